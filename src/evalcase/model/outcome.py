"""What became of a case at a target: verdicts of its trials in, one verdict for all of them out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct, field

from evalcase.model.result import Verdict
from evalcase.model.totals import decide_case_verdict
from evalcase.model.value import Value

Key = TypeVar("Key", bound=Hashable)


class Outcome(NamedTuple):
    """What the trials of a case come to, as far as they have results."""

    verdict: Verdict | None
    """None while some of its trials have no result."""
    passed: int
    """How many of its trials passed."""
    trials: int
    """How many have a result."""
    repeats: int = 1
    """How many there are to be."""
    pass_rate: float = 1.0
    """The share of them that must pass."""


@lru_cache(maxsize=64)
def outcome_of_one(verdict: Verdict, pass_rate: float = 1.0) -> Outcome:
    """What a case comes to that is tried once."""
    decided = decide_case_verdict((verdict,), pass_rate)
    return Outcome(decided, int(verdict == "passed"), 1, 1, pass_rate)


class CaseVerdict(Value, frozen=True):
    """A case at a target, all of its trials together: this is what passes or fails."""

    suite: str
    """The path of the suite file, as it was named."""
    case: str
    target: str
    verdict: Verdict | None
    """None where some of its trials have no result."""
    passed: int
    """How many of its trials passed."""
    trials: int
    """How many of its trials have a result."""
    repeats: int
    """How many there are to be."""
    pass_rate_needed: float
    """The share of its trials that must pass."""
    score: float | None
    """The mean of those trials that have a score; None where none has."""


class _OpenCase(Struct):
    """A case that has some of its trials."""

    repeats: int
    pass_rate: float
    verdicts: list[Verdict] = field(default_factory=list)
    passed: int = 0

    def add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self.passed += verdict == "passed"

    def outcome(self) -> Outcome:
        verdict, trials = None, len(self.verdicts)
        if trials >= self.repeats:
            verdict = decide_case_verdict(self.verdicts, self.pass_rate)
        return Outcome(verdict, self.passed, trials, self.repeats, self.pass_rate)


class Folding(Generic[Key]):
    """Folds trials into cases as they come. It holds those cases that lack some of their trials."""

    def __init__(self) -> None:
        self._open: dict[Key, _OpenCase] = {}

    def add(self, name: Key, verdict: Verdict, repeats: int, pass_rate: float) -> Outcome:
        """Take a trial of a case of that name. The outcome has a verdict once that is all."""
        if repeats <= 1:
            return outcome_of_one(verdict, pass_rate)
        known = self._open.get(name)
        if known is None:
            known = self._open[name] = _OpenCase(repeats, pass_rate)
        known.add(verdict)
        outcome = known.outcome()
        if outcome.verdict is not None:
            del self._open[name]
        return outcome

    def __len__(self) -> int:
        """How many cases lack some of their trials."""
        return len(self._open)

    def left(self) -> Iterator[tuple[Key, Outcome]]:
        """Those cases, with what they come to so far."""
        return ((name, known.outcome()) for name, known in self._open.items())
