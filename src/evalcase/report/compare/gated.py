"""What a comparison is judged by: pass rates or scores, of all graders together or of some, at each
target. Only these are tested; whatever else is shown beside them explores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from evalcase.errors import ConfigError
from evalcase.report.compare.comparison import Comparison
from evalcase.report.compare.differences import Measured
from evalcase.report.compare.track import TrackFigures
from evalcase.stats.paired import adjust_p_values
from evalcase.stats.sequential import ALPHA
from evalcase.types.problem import did_you_mean
from evalcase.types.value import Value, replace

Measure = Literal["passed", "cases", "score"]
"""What passed, by the share of trials of each case where there are several; cases alone; scores."""


class Gated(Value, frozen=True):
    """A measure at a target that is tested."""

    track: TrackFigures
    measured: Measured
    """With its p adjusted to how many are tested."""
    grader: str | None
    """None for all graders together."""
    tests: int = 1
    """How many are tested at once."""
    both: bool = False
    """Whether gates go by cases, too, where trials are tested: nobody has said which counts."""

    @property
    def value(self) -> float:
        change = self.measured.change
        base, head = self.measured.base, self.measured.head
        if change is not None:
            return change.value
        return (head or 0.0) - (base or 0.0)

    @property
    def is_of_trials(self) -> bool:
        """Whether it is the share of trials that passed, of each case."""
        return self.grader is None and self.measured.name == "trials"

    @property
    def is_of_scores(self) -> bool:
        """Whether it is of what graders say, which some cases may not have, and not of verdicts."""
        return self.grader is not None or self.measured.name == "score"

    @property
    def lost_cases(self) -> float:
        """By how much the pass rate of cases fell, where that of trials is tested; 0 else."""
        passed = self.track.passed
        if not self.is_of_trials or passed.base is None or passed.head is None:
            return 0.0
        return max(0.0, passed.base - passed.head)

    @property
    def is_distinct(self) -> bool:
        """Whether it can be told from no change."""
        p = self.measured.p if self.measured.adjusted is None else self.measured.adjusted
        return p < ALPHA and self.measured.pairs > 0

    @property
    def is_powerless(self) -> bool:
        """Whether no change could be told from none, not even one of all cases."""
        return self.measured.least_p * self.tests >= ALPHA


def find_gated(
    comparison: Comparison, measure: Measure | None, graders: Sequence[str]
) -> list[Gated]:
    """All that is tested, with Holm's adjustment: what passed, unless a measure is named. Raise
    ConfigError for an unknown grader."""
    found = [
        Gated(track, measured, grader, both=measure is None)
        for track in comparison.tracks
        for grader, measured in _choose_measures(track, measure or "passed", graders)
    ]
    adjusted = adjust_p_values([each.measured.p for each in found])
    return [
        replace(each, measured=replace(each.measured, adjusted=p), tests=len(found))
        for each, p in zip(found, adjusted, strict=True)
    ]


def _choose_measures(
    track: TrackFigures, measure: Measure, graders: Sequence[str]
) -> Iterator[tuple[str | None, Measured]]:
    if not graders:
        passed = track.trials or track.passed if measure == "passed" else track.passed
        yield None, track.score if measure == "score" else passed
        return
    several = track.grader_scores if measure == "score" else track.graders
    known = {measured.name: measured for measured in several}
    for name in graders:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(
                f"no case that is compared was graded by `{name}` in both"
                f"{f'; {hint}' if hint else ''}"
            )
        yield name, known[name]
