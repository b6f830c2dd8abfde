"""What a run comes to: verdicts of trials to those of cases, and both in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from evalcase.model.result import Verdict
from evalcase.model.value import Value

_DIGITS = 9
"""Of dollars: less than that is no money, but the rest of a sum."""


class Counts(Value, frozen=True):
    """Things by their verdict, each counted once."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    errored: int = 0
    ungraded: int = 0
    skipped: int = 0

    @classmethod
    def of(cls, verdicts: Mapping[Verdict, int]) -> Counts:
        return cls(sum(verdicts.values()), **dict(verdicts))

    @property
    def not_passed(self) -> int:
        """How many were tried, and did not pass."""
        return self.total - self.skipped - self.passed

    @property
    def pass_rate(self) -> float | None:
        """The share that passed of all that was tried; None if nothing was."""
        tried = self.total - self.skipped
        return self.passed / tried if tried else None


class Totals(Value, frozen=True):
    """A case, at a target, is what passes or fails; trials are what that rests on."""

    cases: Counts = Counts()
    """Cases, each once for each of its targets, that have all of their trials."""
    trials: Counts = Counts()
    unfinished: int = 0
    """Cases of which some trials have no result: they are not counted above."""
    cost_usd: float | None = None
    """Of the answers that count; None where no answer came with its cost."""
    grading_usd: float | None = None
    """What graders asked of targets; None where they asked nothing that has a price."""
    users_usd: float | None = None
    """What it cost to play users; None where nothing was asked that has a price."""
    spent_usd: float | None = None
    """Of every call that was recorded, also those whose result was replaced later."""
    unpriced: int = 0
    """How many answers that count came without their cost."""
    cached: int = 0
    """How many answers that count were given earlier: those of the cache, or of a record."""

    @property
    def pass_rate(self) -> float | None:
        """The share of cases that passed, of all that were tried; None if none was."""
        return self.cases.pass_rate

    def describe(self) -> str:
        """How many cases there are of each verdict, the pass rate and the cost, in words."""
        cases = self.cases
        counts = {
            "passed": cases.passed, "failed": cases.failed, "errored": cases.errored,
            "ungraded": cases.ungraded, "skipped": cases.skipped, "unfinished": self.unfinished,
        }  # fmt: skip
        said = [f"{count:,} {name}" for name, count in counts.items() if count]
        rate = "" if cases.pass_rate is None else f"; pass rate {100 * cases.pass_rate:.1f}%"
        cost = "" if self.cost_usd is None else f"; ${self.cost_usd:.4f}"
        return f"{', '.join(said) or 'nothing was run'}{rate}{cost}"

    @property
    def lost_usd(self) -> float | None:
        """What was spent on nothing that counts, a conversation that broke off for one; None if
        nothing was."""
        counted = fsum((self.cost_usd or 0.0, self.grading_usd or 0.0, self.users_usd or 0.0))
        lost = round((self.spent_usd or 0.0) - counted, _DIGITS)
        return lost if lost > 0 else None


_ROUNDING = 1e-9
"""A share of 0.8 that comes out as 0.7999999999999999 is still 0.8."""


def can_pass(passed: int, repeats: int, pass_rate: float) -> bool:
    """Whether so many trials that passed are enough."""
    return passed >= pass_rate * repeats - _ROUNDING


def decide_case_verdict(verdicts: Sequence[Verdict], pass_rate: float = 1.0) -> Verdict:
    """The verdict of a case by those of its trials: passed if at least that share of them passed.

    Where too few passed, errored beats failed and failed beats ungraded, as within a trial. With a
    rate of 0 trials need not pass, but they must be graded.
    """
    if verdicts and all(verdict == "skipped" for verdict in verdicts):
        return "skipped"
    passed = sum(verdict == "passed" for verdict in verdicts)
    if can_pass(passed, len(verdicts), pass_rate) and (passed or set(verdicts) == {"failed"}):
        return "passed"
    worst: tuple[Verdict, ...] = ("errored", "failed", "ungraded")
    return next((verdict for verdict in worst if verdict in verdicts), "ungraded")
