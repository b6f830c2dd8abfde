"""What was decided before all of a run was done, so that the rest of it need not be."""

from __future__ import annotations

from typing import Literal

from evalcase.model.value import Value

StopRule = Literal["certain", "likely"]
DecisionOutcome = Literal["met", "missed", "better", "worse"]


class Decision(Value, frozen=True):
    rule: StopRule
    """`certain`: no case that is left could change it. `likely`: it is wrong in at most 5 % of all
    runs, however often it is looked at."""
    outcome: DecisionOutcome
    seed: int
    """By which the order of the cases was drawn."""
    seen: int
    """How many whole cases it rests on."""
    cases: int
    """How many there are, those that are skipped left out."""
    low: float
    """The pass rate of all cases lies between these two: surely, or with 95 % at every look."""
    high: float
    fail_under: float | None = None
    """The pass rate that was asked for."""
    against: str | None = None
    """The run that it was compared with."""
    fixed: int = 0
    broken: int = 0

    @property
    def is_good(self) -> bool:
        return self.outcome in ("met", "better")

    def __str__(self) -> str:
        return f"decided after {self.seen:,} of {self.cases:,} cases: {self._said()}"

    def _said(self) -> str:
        if self.against is not None:
            changes = f"{self.fixed:,} fixed, {self.broken:,} broken"
            return f"{self.outcome} than {self.against} ({changes})"
        rate = f"{self.fail_under:g}"
        if self.rule == "certain":
            sure = f"can't be below {rate}" if self.is_good else f"can't reach {rate}"
            return f"the pass rate {sure} any more"
        return f"the pass rate is {'not below' if self.is_good else 'below'} {rate}"
