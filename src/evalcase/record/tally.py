"""Results in, totals out: trials as they come, cases once all of their trials are there."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from math import fsum, isnan
from typing import NamedTuple

from evalcase.model.outcome import Folding
from evalcase.model.result import Result, Verdict
from evalcase.model.totals import Counts, Totals
from evalcase.system.table import mark_of


class Counted(NamedTuple):
    """A trial, by what is counted of it."""

    group: int
    """The mark of its case at its target."""
    verdict: Verdict
    repeats: int
    pass_rate: float
    cost_usd: float
    """Not a number where none is known, as the next one."""
    grading_usd: float
    answered: int
    """1 if it has an answer, 2 if that was given earlier."""
    said_at: int
    """Where in the journal the row of its grading begins."""
    user_usd: float | None = None
    """What it cost to play its user."""

    @property
    def paid_for(self) -> tuple[float | None, float | None, float | None]:
        """What its answer, its grading and its user cost; None where no cost is known."""
        cost_usd = None if isnan(self.cost_usd) else self.cost_usd
        return cost_usd, None if isnan(self.grading_usd) else self.grading_usd, self.user_usd


class Tally:
    """Adds results up. It grows with the costs, and with cases that are not finished yet."""

    def __init__(self) -> None:
        # A Counter takes ten times as long to add one.
        self._trials: dict[Verdict, int] = {}
        self._cases: dict[Verdict, int] = {}
        self._folding: Folding[Hashable] = Folding()
        self._unpriced = 0
        self._cached = 0
        # Kept one by one for an exact sum: a resumed run adds up to the same cent in any order.
        self._costs = array("d")
        self._grading = array("d")
        self._users = array("d")
        self._lost = array("d")
        """What was spent on answers and gradings that count no more."""

    def add(self, result: Result) -> None:
        name = mark_of(result.key[:3]) if result.repeats > 1 else None
        self.count(name, result.verdict, result.repeats, result.pass_rate)
        answer = result.answer
        if answer is not None:
            user = result.user.cost_usd if result.user is not None else None
            self.pay(answer.cost_usd, grading_cost(result), user, cached=answer.cached)

    def count(self, name: Hashable, verdict: Verdict, repeats: int, pass_rate: float) -> None:
        """Count a trial of a case of that name, and the case if that is all of them. One that is
        not repeated needs no name."""
        self._trials[verdict] = self._trials.get(verdict, 0) + 1
        decided: Verdict | None = verdict
        if repeats > 1 or not pass_rate:
            decided = self._folding.add(name, verdict, repeats, pass_rate).verdict
        if decided is not None:
            self._cases[decided] = self._cases.get(decided, 0) + 1

    def count_alike(
        self, verdict: Verdict, trials: int, *, answered: bool = False, cached: bool = False
    ) -> None:
        """Count so many trials of cases that are not repeated, and that nobody knows a cost of."""
        self._trials[verdict] = self._trials.get(verdict, 0) + trials
        self._cases[verdict] = self._cases.get(verdict, 0) + trials
        self._unpriced += trials if answered else 0
        self._cached += trials if cached else 0

    def pay(
        self, cost_usd: float | None, grading_usd: float | None, user_usd: float | None = None, *,
        cached: bool,
    ) -> None:  # fmt: skip
        """Count what an answer, its grading and the user that it was given to cost."""
        self._cached += cached
        if cost_usd is None:
            self._unpriced += 1
        else:
            self._costs.append(cost_usd)
        if grading_usd is not None:
            self._grading.append(grading_usd)
        if user_usd is not None:
            self._users.append(user_usd)

    def lose(self, spent_usd: Iterable[float]) -> None:
        """Count money that was spent all the same."""
        self._lost.extend(spent_usd)

    def totals(self) -> Totals:
        spent = [*self._costs, *self._grading, *self._users, *self._lost]
        return Totals(
            Counts.of(self._cases),
            Counts.of(self._trials),
            len(self._folding),
            fsum(self._costs) if self._costs else None,
            fsum(self._grading) if self._grading else None,
            fsum(self._users) if self._users else None,
            fsum(spent) if spent else None,
            self._unpriced,
            self._cached,
        )


def grading_cost(result: Result) -> float | None:
    """What the graders of a result asked for; None where nothing has a price."""
    for grade in result.grades:
        if grade.cost_usd is not None:  # hardly any asks for something
            return fsum(each.cost_usd for each in result.grades if each.cost_usd is not None)
    return None
