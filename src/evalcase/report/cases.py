"""Every case at a target with all of its trials, for reports whose rows are cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import fsum

from evalcase.report.details import UNFINISHED
from evalcase.stats.intervals import find_mean
from evalcase.types.result import Outcome, Result
from evalcase.types.value import Value

FindOutcome = Callable[[Result], Outcome]


class CaseTrials(Value, frozen=True):
    """A case at a target: this is what passes or fails."""

    outcome: Outcome
    trials: tuple[Result, ...]
    """In their order; at least one."""

    @property
    def suite(self) -> str:
        return self.trials[0].key.suite

    @property
    def case(self) -> str:
        return self.trials[0].key.case

    @property
    def target(self) -> str:
        return self.trials[0].key.target

    @property
    def verdict(self) -> str:
        return self.outcome.verdict or UNFINISHED

    @property
    def score(self) -> float | None:
        """The mean of those trials that have a score; None where none has."""
        return find_mean(trial.score for trial in self.trials)

    @property
    def duration_s(self) -> float:
        """All trials together."""
        return fsum(trial.duration_s for trial in self.trials)

    @property
    def cost_usd(self) -> float | None:
        """What the answers cost together; None where none says what it did."""
        costs = [
            t.answer.cost_usd for t in self.trials if t.answer and t.answer.cost_usd is not None
        ]
        return fsum(costs) if costs else None

    @property
    def telling(self) -> Result:
        """The trial that says most about the verdict: the first that has it, if any has."""
        for trial in self.trials:
            if trial.verdict == self.outcome.verdict:
                return trial
        return next((t for t in self.trials if t.verdict != "passed"), self.trials[0])


def fold_trials(results: Iterable[Result], outcome_of: FindOutcome) -> Iterator[CaseTrials]:
    """Every case when the last of its results has come. Held are those that lack some."""
    held: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        outcome = outcome_of(result)
        if outcome.trials <= 1:
            yield CaseTrials(outcome, (result,))
            continue
        name = result.key[:3]
        trials = held.setdefault(name, [])
        trials.append(result)
        if len(trials) >= outcome.trials:
            del held[name]
            yield CaseTrials(outcome, tuple(sorted(trials, key=lambda trial: trial.key.repeat)))
