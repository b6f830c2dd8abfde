"""A rubric as an option of a grader: what `rubrics` of a case have, with levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalcase.model.levels import Levels
from evalcase.model.option import option
from evalcase.model.shape import Flag, Number, OptionFault, Text

BLANK = "it is only white space, by which nothing can be judged"


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One point that a judge checks."""

    text: str = option(Text(), "What a good answer does.", example="Names the capital.")
    id: str | None = option(Text(), "Its name in results.", default=None)
    weight: float = option(Number(0), "How much it counts.", default=1.0)
    required: bool = option(
        Flag(), "Whether it must be met, regardless of the score.", default=False
    )
    levels: dict[str, str] | None = option(
        Levels(), "A description of each level, from worst to best.", default=None
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
