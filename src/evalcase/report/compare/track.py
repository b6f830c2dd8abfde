"""Pairs of cases of one target in base and one in head, added up as they come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Literal, NamedTuple

from msgspec import field

from evalcase.report.compare.amounts import Amount, Amounts
from evalcase.report.compare.base_units import MOST_PARTS, Held
from evalcase.report.compare.differences import Differences, Measured
from evalcase.report.compare.side import PlacedName
from evalcase.report.compare.unit import AMOUNTS, RunningMean, Unit
from evalcase.types.question import TrialKey
from evalcase.types.result import Verdict
from evalcase.types.value import Value

ChangeKind = Literal[
    "broken", "fixed", "changed", "same", "added", "removed", "skipped", "unfinished"
]
CHANGE_KINDS: tuple[ChangeKind, ...] = (
    "broken", "fixed", "changed", "same", "added", "removed", "skipped", "unfinished",
)  # fmt: skip
_NAMED: tuple[ChangeKind, ...] = ("broken", "fixed", "changed", "added", "removed", "skipped")
MOST_NAMED = 10_000
"""Cases of a kind whose names are kept. All of them are counted."""
_UNGRADED = RunningMean(), RunningMean()


class ChangedPair(NamedTuple):
    """A case that has changed, and where its answers are found; None where there is none."""

    name: PlacedName
    base: TrialKey | None
    head: TrialKey | None
    base_verdict: Verdict | None
    head_verdict: Verdict | None


class TrackFigures(Value, frozen=True):
    """What came of one target against another."""

    base_target: str
    head_target: str
    pairs: int
    """Cases that are compared: both sides have a verdict, and neither was skipped."""
    counts: dict[ChangeKind, int]
    base_errored: int
    """Trials of those that errored."""
    head_errored: int
    passed: Measured
    """Whether cases passed. What errored did not."""
    without_errors: Measured
    """The same, of pairs of which no trial errored."""
    trials: Measured | None
    """The share of trials that passed; None where no case has several."""
    score: Measured
    graders: tuple[Measured, ...]
    """Whether each grader passed a case."""
    grader_scores: tuple[Measured, ...]
    tags: tuple[Measured, ...]
    amounts: tuple[Amount, ...]
    listed: dict[ChangeKind, list[ChangedPair]] = field(default_factory=dict)
    """The first of each kind, but for those that are the same."""
    head_skipped: int = 0
    """Cases that only head has skipped."""
    decided: int = 0
    """Cases that are compared and errored on neither side."""

    @property
    def is_same(self) -> bool:
        """Whether nothing became of any case that is compared."""
        return self.counts["same"] == self.pairs

    @property
    def is_partial(self) -> bool:
        """Whether there are cases that are not compared."""
        return sum(self.counts.values()) > self.pairs


class Track:
    """Takes pairs, and holds none of them but for the names of what changed, up to a limit."""

    def __init__(self, base_target: str, head_target: str, *, clustered: bool = False) -> None:
        self.base_target = base_target
        self.head_target = head_target
        self.counts: dict[ChangeKind, int] = dict.fromkeys(CHANGE_KINDS, 0)
        self.listed: dict[ChangeKind, list[ChangedPair]] = {kind: [] for kind in _NAMED}
        self.clustered = clustered
        self._head_skipped = self._decided = 0
        self._errored = [0, 0]
        self._repeated = False
        self._passed = self._make("passed")
        self._without_errors = self._make("passed")
        self._trials = self._make("trials")
        self._score = self._make("score")
        self._graders: dict[str, tuple[Differences, Differences]] = {}
        self._tags: dict[str, Differences] = {}
        self._amounts = [Amounts(name) for name in AMOUNTS]

    def note(self, kind: ChangeKind, pair: ChangedPair, *, named: bool = True) -> None:
        """Count a case of a kind, and keep its name if there is room."""
        self.counts[kind] += 1
        if kind == "skipped" and pair.base_verdict != "skipped":
            self._head_skipped += 1
        if named and kind in self.listed and len(self.listed[kind]) < MOST_NAMED:
            self.listed[kind].append(pair)

    def compare(
        self, base: Held, head: Unit, find_grader: Callable[[str], tuple[float, float]],
        tags: Iterable[str], cluster: str, known: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Take a pair of which both have a verdict. Of the graders that are `known` in base, some
        may not have graded head."""
        sides = float(base.verdict == "passed"), float(head.verdict == "passed")
        self._passed.add(*sides, cluster)
        self._decided += "errored" not in (base.verdict, head.verdict)
        if not base.errored and not head.errored:
            self._without_errors.add(*sides, cluster)
        self._errored[0] += base.errored
        self._errored[1] += head.errored
        self._repeated = self._repeated or base.trials > 1 or head.trials > 1
        self._trials.add(base.share, head.share, cluster)
        self._score.add(base.score, head.score.value, cluster, head.score.at_worst(head.trials))
        for grader, (passed, score) in head.graders.items():
            self._grade(grader, find_grader(grader), (passed, score), cluster, head.trials)
        if head.errored or base.grading != head.grading:
            for grader in known:
                if grader not in head.graders:
                    self._grade(grader, find_grader(grader), _UNGRADED, cluster, 0)
        for tag in tags:
            if tag in self._tags or len(self._tags) < MOST_PARTS:
                self._tags.setdefault(tag, self._make(tag)).add(*sides, cluster)
        for each, one, other in zip(self._amounts, base.amounts, head.amounts, strict=True):
            each.add(one, other.value)

    def _grade(
        self, grader: str, base: tuple[float, float], head: tuple[RunningMean, RunningMean],
        cluster: str, trials: int,
    ) -> None:  # fmt: skip
        held = self._graders.get(grader)
        if held is None:
            if len(self._graders) >= MOST_PARTS:
                return
            held = self._graders[grader] = self._make(grader), self._make(grader)
        for each, one, other in zip(held, base, head, strict=True):
            each.add(one, other.value, cluster, other.at_worst(trials))

    def _make(self, name: str) -> Differences:
        return Differences(name, clustered=self.clustered)

    def figures(self) -> TrackFigures:
        graders = [held for held in self._graders.values() if held[0].pairs]
        return TrackFigures(
            self.base_target, self.head_target, self._passed.pairs, self.counts, self._errored[0],
            self._errored[1],
            self._passed.measure(), self._without_errors.measure(),
            self._trials.measure() if self._repeated else None, self._score.measure(),
            tuple(passed.measure() for passed, _ in graders),
            tuple(score.measure() for _, score in graders if score.pairs),
            tuple(each.measure() for each in self._tags.values()),
            tuple(each.measure() for each in self._amounts), self.listed,
            self._head_skipped, self._decided,
        )  # fmt: skip
