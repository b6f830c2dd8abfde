"""What the page is made of, as values: a run, and each case of it at a target with its trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import field

from evalcase.report.figures.figures import Figures
from evalcase.types.case import Case
from evalcase.types.result import Outcome, Result, Verdict
from evalcase.types.value import Value


class Regrading(NamedTuple):
    """How the answer of a trial was graded, that time."""

    number: int
    """Which of the gradings of the run it is, from 1."""
    result: Result


class CaseRow(Value, frozen=True):
    """A case at a target: a row of the table, and what is shown when it is opened."""

    suite: str
    case: str
    target: str
    known: Case | None
    """None where the record hasn't got it."""
    outcome: Outcome | None
    """None where only the other run has the case."""
    results: tuple[Result, ...] = ()
    """Of every trial that has one, by repeat."""
    regradings: Mapping[int, tuple[Regrading, ...]] = field(default_factory=dict)
    """By repeat, all gradings of the answer, where there are several."""
    base: BaseRow | None = None
    alone: str = "added"
    """What it is called where the other run hasn't got it."""

    @property
    def verdict(self) -> Verdict | None:
        """Of all of its trials together; None while some have no result."""
        return self.outcome.verdict if self.outcome is not None else None


class BaseRow(Value, frozen=True):
    """The same case in the run that is compared with."""

    target: str
    outcome: Outcome
    results: tuple[Result, ...]
    change: str = ""
    """What became of it: `fixed`, `broken`, `changed`, `same`, …"""


class RunFacts(Value, frozen=True):
    """What the page says of a run as a whole."""

    name: str
    """Its id, or the file that it was read from."""
    figures: Figures
    created_at: str = ""
    notice: str = ""
    """Why it is not complete; empty if it is."""
    trials: int | None = None
    grading_usd: float | None = None
    duration_s: float | None = None
    grading: str = ""
    """`2 of 3`, and where that comes from, where there are several."""
    remarks: tuple[str, ...] = ()
    """What else has to be said: that it is of cases which failed, that targets were changed."""
    users_usd: float | None = None
    lost_usd: float | None = None
    """What was spent on answers and gradings that don't count."""
