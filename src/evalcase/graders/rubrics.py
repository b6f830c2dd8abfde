"""What a judge looks for, point by point: criteria of a case, of a grader, or of a built-in rubric,
which is a YAML file that people can read, print and copy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

import yaml
from msgspec import structs

from evalcase.types.case import Case
from evalcase.types.grade import Levels
from evalcase.types.options import Amount, Text, about
from evalcase.types.problem import Finding
from evalcase.types.value import Value
from evalcase.util.files import read_file

CriterionVerdict = str
"""`met`, `not_met` or `cannot_tell`; where a criterion has levels, the name of one in place of the
first two."""

MET, NOT_MET, CANNOT_TELL = "met", "not_met", "cannot_tell"


class Criterion(Value, frozen=True):
    """One point. The judge knows it by a key that no text can be mistaken for."""

    key: str
    id: str
    """What results call it."""
    text: str
    weight: float = 1.0
    required: bool = False
    levels: tuple[tuple[str, str], ...] = ()
    """Names and meanings, from the worst to the best; empty where it is met or not."""

    @property
    def verdicts(self) -> tuple[CriterionVerdict, ...]:
        named = tuple(name for name, _ in self.levels) or (MET, NOT_MET)
        return (*named, CANNOT_TELL)

    def __str__(self) -> str:
        """One line, and one for each level: no text can make it look like two criteria."""
        levels = [f"\n  {name}: {' '.join(meaning.split())}" for name, meaning in self.levels]
        return f"{self.key}: {' '.join(self.text.split())}{''.join(levels)}"

    def score(self, verdict: CriterionVerdict) -> float:
        if not self.levels:
            return float(verdict == MET)
        names = [name for name, _ in self.levels]
        return names.index(verdict) / (len(names) - 1)


def number_criteria(items: Iterable[Mapping[str, Any]]) -> tuple[Criterion, ...]:
    """Rubrics in their canonical form `{text, id?, weight?, required?, levels?}`, with keys."""
    return tuple(
        Criterion(
            f"c{number}", str(item.get("id") or f"c{number}"), item["text"],
            float(item.get("weight", 1.0)), bool(item.get("required", False)),
            tuple(sorted((item.get("levels") or {}).items(), key=lambda level: int(level[0]))),
        )
        for number, item in enumerate(items, start=1)
    )  # fmt: skip


def criteria_of_case(case: Case) -> list[Mapping[str, Any]]:
    """What a case itself says: its prose as one point, and its rubrics."""
    prose: list[Mapping[str, Any]] = []
    # With `criteria_judge: false`, rubrics are all that is judged.
    if case.criteria is not None and (
        not case.rubrics or case._data.get("criteria_judge") is not False
    ):
        prose = [{"id": "criteria", "text": case.criteria}]
    return [*prose, *case.rubrics]


# Rubrics as options of a grader

BLANK = "it is only white space, by which nothing can be judged"


class RubricItem(Value, frozen=True):
    text: Annotated[Text, about("What a good answer does.", example="Names the capital.")]
    id: Annotated[Text | None, about("Its name in results.")] = None
    weight: Annotated[Amount, about("How much it counts.")] = 1.0
    required: Annotated[bool, about("Whether it must be met, regardless of the score.")] = False
    levels: Annotated[Levels | None, about("Levels, from worst to best.")] = None


def rubric_faults(rubrics: Sequence[Any]) -> Iterator[Finding]:
    """What is wrong with several rubrics that are right one by one."""
    said = [describe_rubric(each) for each in rubrics]
    if said and not any(each.get("weight", 1.0) for each in said):
        yield Finding(("rubrics",), "the weights are all 0, so there is no score")
    ids: set[str] = set()
    for number, each in enumerate(said):
        if not each["text"].strip():
            yield Finding(("rubrics", number), BLANK)
        id = each.get("id")
        if id in ids:
            yield Finding(("rubrics", number, "id"), f"two rubrics have the id `{id}`")
        ids |= {id} if id is not None else set()


def describe_rubric(rubric: str | RubricItem) -> Mapping[str, Any]:
    if isinstance(rubric, str):
        return {"text": rubric}
    return structs.asdict(rubric)


# Built-in rubrics

_MOST_BYTES = 100_000
RUBRIC_FOLDER = os.path.join(os.path.dirname(__file__), "rubric_files")
RubricName = Literal[
    "correct", "relevant", "faithful", "context_recall", "context_precision", "task_completed",
    "conversation_goal", "harmless", "refuses",
]  # fmt: skip
RUBRIC_NAMES: tuple[str, ...] = get_args(RubricName)


class Rubric(Value, frozen=True):
    """A rubric of one of three forms: criteria, claims to be found and borne out, or chunks."""

    name: str
    version: int
    about: str
    needs: tuple[str, ...]
    """`input`, `expected_output` or `context`."""
    criteria: tuple[Criterion, ...] = ()
    claims: dict[str, str] | None = None
    chunks: str | None = None


def rubric_text(name: str) -> str:
    return read_file(os.path.join(RUBRIC_FOLDER, f"{name}.yaml"), _MOST_BYTES).decode()


@lru_cache(maxsize=16)
def read_rubric(name: str) -> Rubric:
    data: dict[str, Any] = yaml.safe_load(rubric_text(name))
    chunks = data.get("chunks")
    return Rubric(
        data["name"], data["version"], data["about"], tuple(data["needs"]),
        number_criteria(data.get("criteria", ())), data.get("claims"),
        chunks["text"] if chunks else None,
    )  # fmt: skip
