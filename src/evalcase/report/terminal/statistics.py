"""Results in, one at a time; out what a summary says of them, and each case when it is decided.

It grows with what went wrong, up to a limit, with cases that are not decided yet, and by eight
bytes a trial for latency; no more with what passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from evalcase.report.aggregate import Ledger
from evalcase.report.terminal.failures import reason_of
from evalcase.report.terminal.said import Heard, result_heard
from evalcase.report.terminal.verdict_grid import VerdictGrid
from evalcase.types.case import Case
from evalcase.types.result import Folding, Outcome, Result, Verdict, outcome_of_one
from evalcase.types.value import replace

if TYPE_CHECKING:
    from evalcase.stats.agreement import Fleiss
    from evalcase.types.grade import Grade

MOST_IN_FULL = 20
"""Cases of one verdict that are shown in full."""
_MOST_HELD = 1000
"""Undecided cases of which trials are held, to be shown when they are decided."""
_MOST_SHAKY = 10
_SLOWEST = 3
_NAMED = 3
TROUBLED: tuple[Verdict | None, ...] = ("failed", "errored", "ungraded", None)


class CaseName(NamedTuple):
    """A case at a target, all of its repeats together."""

    suite: str
    case: str
    target: str


class Slow(NamedTuple):
    duration_s: float
    name: CaseName


class DecidedCase(NamedTuple):
    """A case whose trials are all there, and the first of them that shows why it is so."""

    outcome: Outcome
    result: Result


class Shown(Struct):
    """A case that is shown in full, by one of its trials."""

    result: Result
    """Without its answer, which may be large."""
    heard: Heard
    outcome: Outcome
    same: int = 0
    """How many other cases errored in the same way."""
    named: list[CaseName] = field(default_factory=list)
    """The first of those."""


class Forgiven(Struct):
    """Cases that passed although some of their trials errored, and why the first of them did."""

    cases: int
    first: str
    reason: str


class Statistics:
    """Adds results up. `shown` says of which verdicts cases are shown; None is of undecided."""

    def __init__(
        self, shown: Collection[Verdict | None] = TROUBLED, ledger: Ledger | None = None
    ) -> None:
        self.ledger = ledger or Ledger()
        """What figures are made of."""
        self.grid = VerdictGrid()
        self.slowest: list[Slow] = []
        self.shaky: list[tuple[CaseName, Outcome]] = []
        """Cases that passed although some of their trials did not: the first of them."""
        self.more_shaky = 0
        self.forgiven: Forgiven | None = None
        self.votes: dict[str, Fleiss] = {}
        """Of each suite whose judges voted several times, how far they agreed."""
        self.more: Counter[Verdict | None] = Counter()
        """How many cases of a verdict are not shown, since many others are."""
        self._verdicts = frozenset(shown)
        self._slow_s = 0.0
        """What a trial has to take longer than to be among the slowest."""
        self._shown: dict[Verdict | None, list[Shown]] = {verdict: [] for verdict in shown}
        self._folding: Folding[CaseName] = Folding()
        self._held: dict[CaseName, dict[Verdict, Shown]] = {}
        """Of undecided cases: their first trial of each verdict."""

    def add(self, result: Result, case: Case | None = None) -> DecidedCase | None:
        """Take a result, with its case where that has tags; return its case if that is decided
        now."""
        self.ledger.add(result, case)
        if result.duration_s > self._slow_s:
            self._note_slow(result)
        for grade in result.grades:
            if grade.asked > 1:
                self._count_votes(result.key.suite, grade)
        verdict = result.verdict
        if result.repeats > 1 or not result.pass_rate:
            return self._fold(result)
        outcome = outcome_of_one(verdict, result.pass_rate)
        self.grid.add(result, verdict)
        if verdict in self._verdicts:
            self._show(outcome, result)
        return DecidedCase(outcome, result)

    def shown(self, verdict: Verdict | None) -> list[Shown]:
        """The cases of a verdict, as many as are shown, in the order of their suites, and of the
        names of their targets: which of them came first is by chance."""
        shown = self._shown.get(verdict, [])
        return sorted(shown, key=lambda each: (each.result.number, each.result.key.target))

    def finish(self) -> None:
        """No result follows: what is undecided stays so."""
        for name, outcome in self._folding.left():
            held = self._held.pop(name, {})
            bad = [shown for verdict, shown in held.items() if verdict != "passed"]
            if None in self._verdicts and bad:
                self._show(outcome, bad[0].result, bad[0])

    def _fold(self, result: Result) -> DecidedCase | None:
        """The same for a trial of a repeated case."""
        name = CaseName(*result.key[:3])
        outcome = self._folding.add(name, result.verdict, result.repeats, result.pass_rate)
        self.grid.add(result, outcome.verdict)
        known = self._held.get(name)
        if known is None and len(self._held) < _MOST_HELD:
            known = self._held[name] = {}
        if known is not None and result.verdict not in known:
            known[result.verdict] = _shorten_result(result, outcome)
        if outcome.verdict is None:
            return None
        held = self._held.pop(name, None) or {result.verdict: _shorten_result(result, outcome)}
        if outcome.verdict == "passed":
            self._forgive(name, outcome, held)
        trial = held.get(outcome.verdict) or next(iter(held.values()))
        if outcome.verdict in self._verdicts:
            self._show(outcome, trial.result, trial)
        return DecidedCase(outcome, trial.result)

    def _forgive(self, name: CaseName, outcome: Outcome, held: dict[Verdict, Shown]) -> None:
        if outcome.passed == outcome.trials:
            return
        if len(self.shaky) < _MOST_SHAKY:
            self.shaky.append((name, outcome))
        else:
            self.more_shaky += 1
        if "errored" in held:
            self.forgiven = self.forgiven or Forgiven(
                0, name.case, reason_of(held["errored"].result)
            )
            self.forgiven.cases += 1

    def _count_votes(self, suite: str, grade: Grade) -> None:
        # Few runs have votes to count.
        from evalcase.report.votes import votes_in
        from evalcase.stats.agreement import Fleiss

        for votes in votes_in(grade):
            self.votes.setdefault(suite, Fleiss()).add(votes)

    def _note_slow(self, result: Result) -> None:
        """Keep the slowest trials, no case twice."""
        name = result.key[:3]
        if any(each.duration_s >= result.duration_s for each in self.slowest if each.name == name):
            return
        others = [each for each in self.slowest if each.name != name]
        slow = [*others, Slow(result.duration_s, CaseName(*name))]
        self.slowest = slow = sorted(slow, key=lambda each: -each.duration_s)[:_SLOWEST]
        self._slow_s = slow[-1].duration_s if len(slow) == _SLOWEST else 0.0

    def _show(self, outcome: Outcome, result: Result, held: Shown | None = None) -> None:
        shown = self._shown[outcome.verdict]
        like = _find_alike(shown, result) if outcome.verdict == "errored" else None
        if like is not None:
            like.same += 1
            if len(like.named) < _NAMED:
                like.named.append(CaseName(*result.key[:3]))
        elif len(shown) < MOST_IN_FULL:
            trial = held or _shorten_result(result, outcome)
            trial.outcome = outcome
            shown.append(trial)
        else:
            self.more[outcome.verdict] += 1


def _shorten_result(result: Result, outcome: Outcome) -> Shown:
    return Shown(replace(result, answer=None), result_heard(result), outcome)


def _find_alike(errored: list[Shown], result: Result) -> Shown | None:
    """One that errored for the same reason: a key that is missing is told once, not 300 times."""
    why = reason_of(result)
    return next((shown for shown in errored if reason_of(shown.result) == why), None)
