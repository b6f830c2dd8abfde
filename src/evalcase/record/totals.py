"""What a run comes to, counted from its journal and from nothing else."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from math import fsum

from evalcase.model.result import Verdict


@dataclass(frozen=True, slots=True)
class Totals:
    """Trials by verdict, each counted once, and their cost."""

    total: int
    passed: int
    failed: int
    errored: int
    ungraded: int
    skipped: int
    cost_usd: float | None
    """Of the results that count; None where no answer came with its cost."""
    spent_usd: float | None
    """Of every call that was recorded, also those whose result was replaced later."""
    unpriced: int
    """How many answers that count came without their cost."""

    @property
    def pass_rate(self) -> float | None:
        """The share that passed of all that was tried; None if nothing was."""
        tried = self.total - self.skipped
        return self.passed / tried if tried else None


class Tally:
    """Adds results up, and takes replaced ones away again."""

    def __init__(self) -> None:
        self._verdicts: Counter[Verdict] = Counter()
        self._unpriced = 0
        # Kept one by one for an exact sum: a resumed run adds up to the same cent in any order.
        self._costs = array("d")
        self._replaced = array("d")

    def add(self, verdict: Verdict, answered: bool, cost_usd: float | None) -> None:
        self._verdicts[verdict] += 1
        if cost_usd is not None:
            self._costs.append(cost_usd)
        elif answered:
            self._unpriced += 1

    def take_away(self, verdict: Verdict, answered: bool, cost_usd: float | None) -> None:
        self._verdicts[verdict] -= 1
        if cost_usd is not None:
            self._replaced.append(-cost_usd)
        elif answered:
            self._unpriced -= 1

    def totals(self) -> Totals:
        count = self._verdicts
        known = len(self._costs) > len(self._replaced)
        return Totals(
            total=count.total(),
            passed=count["passed"],
            failed=count["failed"],
            errored=count["errored"],
            ungraded=count["ungraded"],
            skipped=count["skipped"],
            cost_usd=fsum([*self._costs, *self._replaced]) if known else None,
            spent_usd=fsum(self._costs) if self._costs else None,
            unpriced=self._unpriced,
        )
