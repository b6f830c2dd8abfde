"""A rubric as an option of a grader: what `rubrics` of a case have, with levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from evalcase.types.grade import Levels
from evalcase.types.options import Amount, OptionFault, Text, about
from evalcase.types.value import Value

BLANK = "it is only white space, by which nothing can be judged"


class RubricItem(Value, frozen=True):
    """One point that a judge checks."""

    text: Annotated[Text, about("What a good answer does.", example="Names the capital.")]
    id: Annotated[Text | None, about("Its name in results.")] = None
    weight: Annotated[Amount, about("How much it counts.")] = 1.0
    required: Annotated[bool, about("Whether it must be met, regardless of the score.")] = False
    levels: Annotated[Levels | None, about("A description of each level, from worst to best.")] = (
        None
    )

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text, "id": self.id, "weight": self.weight, "required": self.required,
            "levels": self.levels,
        }  # fmt: skip


def rubric_faults(rubrics: Sequence[Any]) -> Iterator[OptionFault]:
    """What is wrong with several rubrics that are right one by one."""
    weights = [each.weight if isinstance(each, RubricItem) else 1.0 for each in rubrics]
    if weights and not any(weights):
        yield OptionFault(("rubrics",), "the weights are all 0, so there is no score")
    ids: set[str] = set()
    for number, each in enumerate(rubrics):
        if not (each.text if isinstance(each, RubricItem) else each).strip():
            yield OptionFault(("rubrics", number), BLANK)
        id = each.id if isinstance(each, RubricItem) else None
        if id in ids:
            yield OptionFault(("rubrics", number, "id"), f"two rubrics have the id `{id}`")
        elif id is not None:
            ids.add(id)


def describe_rubric(rubric: object) -> Mapping[str, Any]:
    """What a case would say of it."""
    if isinstance(rubric, str):
        return {"text": rubric}
    assert isinstance(rubric, RubricItem)
    return rubric.to_dict()
