"""What a judge looks for, point by point: of a case, of a grader, or of a ready rubric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalcase.types.case import Case
from evalcase.types.value import Value

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
        """What a judge may say of it."""
        named = tuple(name for name, _ in self.levels) or (MET, NOT_MET)
        return (*named, CANNOT_TELL)

    def score(self, verdict: CriterionVerdict) -> float:
        """How much of it a verdict grants."""
        if not self.levels:
            return float(verdict == MET)
        names = [name for name, _ in self.levels]
        return names.index(verdict) / (len(names) - 1)

    def is_met(self, verdict: CriterionVerdict) -> bool:
        return verdict != CANNOT_TELL and self.score(verdict) == 1.0


def number_criteria(items: Iterable[Mapping[str, Any]]) -> tuple[Criterion, ...]:
    """Rubrics in their canonical form `{text, id?, weight?, required?, levels?}`, with keys."""
    return tuple(
        Criterion(
            f"c{number}", str(item.get("id") or f"c{number}"), item["text"],
            float(item.get("weight", 1.0)), bool(item.get("required", False)),
            tuple(_order_levels(item.get("levels") or {})),
        )
        for number, item in enumerate(items, start=1)
    )  # fmt: skip


def _order_levels(levels: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(levels.items(), key=lambda level: int(level[0]))


def criteria_of_case(case: Case) -> list[Mapping[str, Any]]:
    """What a case itself says: its prose as one point, and its rubrics."""
    prose: list[Mapping[str, Any]] = []
    if case.criteria is not None:
        prose = [{"id": "criteria", "text": case.criteria}]
    return [*prose, *case.rubrics]
