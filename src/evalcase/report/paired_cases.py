"""The cases of two runs, paired by suite, case and target, and added up while they stream by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from json import dumps
from math import nan
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct, field

from evalcase.report.differences import Amount, Amounts, Differences, Measured
from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.question import TrialKey
from evalcase.types.result import VERDICTS, Outcome, Result, Verdict
from evalcase.types.value import Value
from evalcase.util.table import Table, mark_of


class StoredResults(Protocol):
    """Results that can be gone through, and looked up: a record, or a file of trials."""

    @property
    def targets(self) -> tuple[str, ...]: ...
    def results(self) -> Iterator[Result]: ...
    def outcome(self, result: Result, /) -> Outcome: ...
    def find_case(self, suite: str, case: str, /) -> Case | None: ...
    def find_result(self, key: TrialKey, /) -> Result | None: ...


class PlacedName(NamedTuple):
    """A case at a target, all of its repeats together. The suite is where it lies in its project,
    so that it doesn't matter from where it was named."""

    suite: str
    case: str
    target: str


class Side(Value, frozen=True):
    stored: StoredResults
    label: str
    """What it is called in a report."""
    place_of: Callable[[str], str] = str
    """Where a suite lies in its project, by the path that it was named with."""
    missing: str = ""
    """Why it is not complete; empty if it is."""
    mixed: tuple[str, ...] = ()
    """The targets with answers from before and after a change."""
    whole_cases: bool = True
    """Whether it has all of each case, and not only what was asked and expected."""
    origin: str = ""
    """The run whose cases that did not pass these are."""
    choice: str = ""
    """Why this run was chosen, if it was not named and is not simply the one before."""
    part: str = ""
    """Which of the cases it is of, where it is not of all: the others were not asked for."""


_MASK = 0xFFFF_FFFF_FFFF_FFFF
AMOUNTS = ("latency", "input tokens", "output tokens", "cost")
"""What is measured of an answer beside how good it is, in the order in which it is noted."""


class RunningMean:
    """The mean of what there is."""

    __slots__ = ("count", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0

    def add(self, value: float | None) -> None:
        if value is not None:
            self.count += 1
            self.total += value

    @property
    def value(self) -> float:
        """Not a number where there is nothing."""
        return self.total / self.count if self.count else nan

    def at_worst(self, trials: int) -> float | None:
        """What it would be if each of so many trials that has no value had 0; None if all have
        one, or none has."""
        return self.total / trials if 0 < self.count < trials else None


def _make_amounts() -> tuple[RunningMean, ...]:
    return tuple(RunningMean() for _ in AMOUNTS)


class CaseStanding(NamedTuple):
    """What a case came to: two that are equal say that nothing changed."""

    verdict: Verdict | None
    answers: int
    passed: int
    trials: int
    score: str
    """As text: what is not a number is not equal to itself."""


class Unit(Struct):
    """A case at a target."""

    name: PlacedName
    shown: Result
    """The first trial that shows why its verdict is what it is."""
    verdict: Verdict | None = None
    """None where some of its trials have no result."""
    trials: int = 0
    passed: int = 0
    errored: int = 0
    repeats: int = 1
    score: RunningMean = field(default_factory=RunningMean)
    amounts: tuple[RunningMean, ...] = field(default_factory=_make_amounts)
    graders: dict[str, tuple[RunningMean, RunningMean]] = field(default_factory=dict)
    """By name: how often it passed, and its score."""
    answers: int = 0
    """A mark of all that was said, in whatever order."""
    question: int = 0
    """A mark of what was asked."""
    grading: int = 0
    """A mark of what it was graded by."""

    @property
    def share(self) -> float:
        """Of its trials, those that passed."""
        return self.passed / self.trials if self.trials else nan

    def standing(self) -> CaseStanding:
        return CaseStanding(
            self.verdict, self.answers, self.passed, self.trials, str(self.score.value)
        )

    def add(self, result: Result) -> None:
        verdict = result.verdict
        self.trials += 1
        self.passed += verdict == "passed"
        self.errored += verdict == "errored"
        if self.shown.verdict == "passed" and self.verdict != "passed":
            self.shown = result
        self.score.add(result.score)
        self.question = mark_of(result.question_hash)
        self.grading = mark_of(result.grading_hash)
        if result.answer is not None:
            self._measure(result.answer, result.duration_s)
        for grade in result.grades:
            held = self.graders.get(grade.grader)
            if held is None:
                held = self.graders[grade.grader] = RunningMean(), RunningMean()
            held[0].add(float(grade.passed))
            held[1].add(grade.score)

    def _measure(self, answer: Answer, duration_s: float) -> None:
        self.answers = (self.answers + mark_of(_write_said(answer))) & _MASK
        usage, earlier = answer.usage, answer.earlier
        # What is from a cache or a file took what it took when it was first given.
        values = (
            duration_s if earlier is None else earlier.duration_s,
            usage.input_tokens if usage is not None else None,
            usage.output_tokens if usage is not None else None,
            answer.cost_usd if earlier is None else earlier.cost_usd,
        )
        for mean, value in zip(self.amounts, values, strict=True):
            mean.add(value)


def _write_said(answer: Answer) -> str:
    messages = answer.messages
    if len(messages) == 1 and len(messages[0]) == 2 and isinstance(messages[0].content, str):
        return messages[0].content  # as most are
    return dumps(messages, sort_keys=True)


def fold_units(side: Side, targets: Collection[str]) -> Iterator[Unit]:
    """The cases of some targets, each when the last of its trials has come."""
    stored, place_of = side.stored, side.place_of
    wanted = frozenset(targets)
    held: dict[tuple[str, str, str], Unit] = {}
    for result in stored.results():
        key = result.key
        if key.target not in wanted:
            continue
        outcome, group = stored.outcome(result), key[:3]
        unit = held.get(group)
        if unit is None:
            name = PlacedName(place_of(key.suite), key.case, key.target)
            unit = held[group] = Unit(name, result, outcome.verdict, repeats=outcome.repeats)
        unit.add(result)
        if unit.trials >= outcome.trials:
            del held[group]
            yield unit
    yield from held.values()  # a file may have lost some


_NUMBERS: dict[Verdict | None, int] = {
    None: -1, **{verdict: number for number, verdict in enumerate(VERDICTS)}
}  # fmt: skip
_COLUMNS = "bIIIIIddddddQQQQ"
_MET = len(_COLUMNS) - 1
"""The column that says which comparisons have found a case in head, a bit for each."""
MOST_TRACKS = 64
MOST_PARTS = 1_000
"""Tags, or graders, that are told apart."""


class Held(NamedTuple):
    """What is known of a case of the base."""

    verdict: Verdict | None
    trials: int
    passed: int
    errored: int
    repeats: int
    shown: int
    """The repeat that shows why its verdict is what it is."""
    share: float
    score: float
    """Not a number where there is none."""
    amounts: tuple[float, ...]
    answers: int
    question: int
    grading: int

    def standing(self) -> CaseStanding:
        return CaseStanding(self.verdict, self.answers, self.passed, self.trials, str(self.score))


class BaseUnits:
    """Finds cases by where their suite lies, their id and their target."""

    def __init__(self) -> None:
        self._units = Table(_COLUMNS)
        self._graders = Table("dd")
        self.counts: Counter[str] = Counter()
        """Of each target, how many cases there are."""
        self.graders: dict[str, None] = {}
        """The names of all graders, as far as they are told apart."""
        self._suites: dict[str, str] = {}
        """How each suite was named, by where it lies."""

    def add(self, unit: Unit) -> None:
        name, mark = unit.name, mark_of(unit.name)
        self.counts[name.target] += 1
        self._suites.setdefault(name.suite, unit.shown.key.suite)
        self._units.add(
            mark, _NUMBERS[unit.verdict], unit.trials, unit.passed, unit.errored, unit.repeats,
            unit.shown.key.repeat, unit.share, unit.score.value,
            *(mean.value for mean in unit.amounts), unit.answers, unit.question, unit.grading,
            0,
        )  # fmt: skip
        for grader, (passed, score) in unit.graders.items():
            if len(self.graders) < MOST_PARTS:
                self.graders[grader] = None
            self._graders.add(mark_of((mark, grader)), passed.value, score.value)

    @property
    def suites(self) -> Collection[str]:
        """Where each suite lies."""
        return self._suites.keys()

    def find(self, name: PlacedName) -> Held | None:
        found = self._units.find(mark_of(name))
        if found is None:
            return None
        last = 8 + len(AMOUNTS)
        verdict = None if found[0] < 0 else VERDICTS[found[0]]
        first, rest = found[1:8], found[last:_MET]
        return Held._make((verdict, *first, found[8:last], *rest))

    def meet(self, name: PlacedName, track: int) -> None:
        """Note that a case was found in head, in one of the comparisons."""
        mark = mark_of(name)
        found = self._units.find(mark)
        assert found is not None
        self._units.put(mark, _MET, found[_MET] | 1 << track)

    def is_met(self, name: PlacedName, track: int) -> bool:
        found = self._units.find(mark_of(name))
        return found is not None and bool(found[_MET] >> track & 1)

    def key_of(self, name: PlacedName, repeat: int) -> TrialKey:
        """What a trial of the base is called there."""
        return TrialKey(self._suites[name.suite], name.case, name.target, repeat)

    def find_grader(self, name: PlacedName, grader: str) -> tuple[float, float]:
        """How often a grader passed a case, and its score; not numbers where it wasn't asked."""
        return self._graders.find(mark_of((mark_of(name), grader))) or (nan, nan)


ChangeKind = Literal[
    "broken", "fixed", "changed", "same", "added", "removed", "skipped", "unfinished"
]
CHANGE_KINDS: tuple[ChangeKind, ...] = (
    "broken", "fixed", "changed", "same", "added", "removed", "skipped", "unfinished",
)  # fmt: skip
_LISTED: tuple[ChangeKind, ...] = ("broken", "fixed", "changed", "added", "removed", "skipped")
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
    """The same, of pairs without errored trials."""
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
        self.listed: dict[ChangeKind, list[ChangedPair]] = {kind: [] for kind in _LISTED}
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
        """Add a pair with verdicts on both sides. Of the graders that are `known` in base, some
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
