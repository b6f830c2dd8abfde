"""Two sides in, their comparison out: what became of each case, and figures of each target. Cases
are paired by suite and id; targets by name, unless each side has only one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.report.aggregate import Clustering
from evalcase.report.differences import Amount, Amounts, Differences, Measured, ScoreDifferences
from evalcase.report.evaluated import CaseTrials
from evalcase.report.figures import measure_answer
from evalcase.report.sides import (
    CHANGE_KINDS,
    NAMED_KINDS,
    CasePair,
    ChangeKind,
    PairedCases,
    PlacedName,
    Side,
)
from evalcase.stats.intervals import find_mean
from evalcase.types.answer import Usage
from evalcase.types.case import Case
from evalcase.types.result import Result, Verdict
from evalcase.types.target import TrialKey
from evalcase.types.value import Value
from evalcase.util.text import list_some, write_count

_NAMED = 3
_MOST_NAMED = 10_000
"""Cases of a kind whose names are kept. All of them are counted."""
_MOST_PARTS = 1_000
"""Tags, or graders, that are told apart."""


class ChangedPair(NamedTuple):
    """A case that has changed, and where its answers are found; None where there is none."""

    name: PlacedName
    base: TrialKey | None
    head: TrialKey | None
    base_verdict: Verdict | None
    head_verdict: Verdict | None


class TrackFigures(Value, frozen=True):
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
    listed: dict[ChangeKind, list[ChangedPair]]
    """The first of each kind, but for those that are the same."""
    head_skipped: int
    """Cases that only head has skipped."""
    decided: int
    """Cases that are compared and errored on neither side."""

    @property
    def is_same(self) -> bool:
        """Whether nothing became of any case that is compared."""
        return self.counts["same"] == self.pairs


class Comparison(Value, frozen=True):
    base: Side
    head: Side
    remarks: tuple[str, ...]
    """What differs beside the answers: to be said before any number."""
    tracks: tuple[TrackFigures, ...]
    """One for each target that is compared."""
    alone: tuple[str, ...] = ()
    """Targets that are not compared: only one side has them, or they were not named."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Targets that are only in base, though all were to be compared, and their cases."""
    base_errored: int = 0
    """Trials that errored, in whatever was to be compared, paired or not."""
    head_errored: int = 0

    @property
    def is_within(self) -> bool:
        return self.base is self.head

    @property
    def targets(self) -> dict[str, str]:
        """For each target of head that is compared, that of base."""
        return {track.head_target: track.base_target for track in self.tracks}

    @property
    def unselected(self) -> dict[ChangeKind, str]:
        """What cases of a kind are called that only one side has, because the other was told to
        leave them out."""
        sides: tuple[tuple[ChangeKind, str, Side], ...]
        sides = ("added", "base", self.base), ("removed", "head", self.head)
        return {kind: f"not selected in {word}" for kind, word, side in sides if side.part}

    @property
    def pairs(self) -> int:
        return sum(track.pairs for track in self.tracks)


def compare_sides(
    base: Side,
    head: Side,
    targets: Mapping[str, str],
    clustering: Clustering | None = None,
    *,
    chosen: bool = False,
) -> Comparison:
    """Compare the targets of head that are named with those of base that they are paired with.
    Targets without a pair count as missing, unless a person has `chosen` the targets."""
    paired, conditions = PairedCases(base, head, targets), _Conditions(base is head)
    tracks = {name: _Track(targets[name], name, clustering) for name in targets}
    # A gate is not met with errors of what has no pair, either.
    only_paired = chosen or base is head
    base_errored = head_errored = 0
    lost: Counter[str] = Counter()
    for case in paired.read_base():
        is_compared = case.target in targets.values()
        if is_compared or not only_paired:
            base_errored += _count_errored(case)
            lost[case.target] += not is_compared and case.target not in head.stored.targets
    for pair in paired.pairs():
        track = tracks.get(pair.name.target)
        if pair.head is not None and (track is not None or not only_paired):
            head_errored += _count_errored(pair.head)
        if track is None:
            continue
        track.note(pair)
        is_compared = pair.kind not in ("skipped", "unfinished")
        if pair.base is not None and pair.head is not None and is_compared:
            known = head.stored.find_case(pair.head.suite, pair.head.case)
            conditions.look(pair.base, pair.head)
            track.compare(pair.base, pair.head, known)
    figures = tuple(track.figures() for track in tracks.values())
    remarks = [*_say_sides(base, head)]
    in_base = sum(track.base_errored for track in figures)
    in_head = sum(track.head_errored for track in figures)
    if in_base or in_head:
        errored = f"{write_count(in_base, 'trial')} errored in base and {in_head:,} in head"
        remarks.append(f"{errored}: they count as not passed")
    remarks += conditions.say()
    kinds: tuple[tuple[ChangeKind, str, Side], ...]
    kinds = ("added", "only in head", base), ("removed", "only in base", head)
    for kind, words, other in kinds:
        count = sum(track.counts[kind] for track in figures)
        if count and not other.part:  # where the other covers a part, that is said already
            remarks.append(f"{write_count(count, 'case')} {words}")
    alone = {*base.stored.targets, *head.stored.targets} - {*targets, *targets.values()}
    return Comparison(
        base, head, tuple(remarks), figures, tuple(sorted(alone)), +lost, base_errored,
        head_errored,
    )  # fmt: skip


def _count_errored(case: CaseTrials) -> int:
    return sum(trial.verdict == "errored" for trial in case.trials)


class _Track:
    """Takes the pairs of one target, and holds only the names of what changed, up to a limit."""

    def __init__(self, base_target: str, head_target: str, clustering: Clustering | None) -> None:
        self._targets = base_target, head_target
        self._clustering = clustering
        self._counts: dict[ChangeKind, int] = dict.fromkeys(CHANGE_KINDS, 0)
        self._listed: dict[ChangeKind, list[ChangedPair]] = {kind: [] for kind in NAMED_KINDS}
        self._head_skipped = self._decided = self._base_errored = self._head_errored = 0
        self._repeated = False
        clustered = clustering is not None
        self._passed = Differences("passed", clustered)
        self._without_errors = Differences("passed", clustered)
        self._trials = Differences("trials", clustered)
        self._score = ScoreDifferences("score", clustered)
        self._graders: dict[str, tuple[ScoreDifferences, ScoreDifferences]] = {}
        self._tags: dict[str, Differences] = {}
        self._amounts = [Amounts(name) for name in _AMOUNTS]

    def note(self, pair: CasePair) -> None:
        kind, base, head = pair.kind, pair.base, pair.head
        self._counts[kind] += 1
        changed = ChangedPair(
            pair.name,
            None if base is None else base.telling.key,
            None if head is None else head.telling.key,
            None if base is None else base.outcome.verdict,
            None if head is None else head.outcome.verdict,
        )
        self._head_skipped += kind == "skipped" and changed.base_verdict != "skipped"
        if kind == "skipped" and changed.base_verdict == changed.head_verdict:
            return
        if kind in self._listed and len(self._listed[kind]) < _MOST_NAMED:
            self._listed[kind].append(changed)

    def compare(self, base: CaseTrials, head: CaseTrials, known: Case | None) -> None:
        cluster = ""
        if self._clustering is not None:
            cluster = self._clustering.find(head.trials[0], known)
        sides = float(base.verdict == "passed"), float(head.verdict == "passed")
        base_errored, head_errored = _count_errored(base), _count_errored(head)
        self._passed.add(*sides, cluster)
        self._decided += "errored" not in (base.verdict, head.verdict)
        if not base_errored and not head_errored:
            self._without_errors.add(*sides, cluster)
        self._base_errored += base_errored
        self._head_errored += head_errored
        self._repeated = self._repeated or len(base.trials) > 1 or len(head.trials) > 1
        shares = [side.outcome.passed / len(side.trials) for side in (base, head)]
        self._trials.add(shares[0], shares[1], cluster)
        trials = len(head.trials)
        self._score.add_scores(
            [trial.score for trial in base.trials], [trial.score for trial in head.trials],
            trials, cluster,
        )  # fmt: skip
        graded = _by_grader(base), _by_grader(head)
        for name in dict.fromkeys((*graded[1], *graded[0])):
            if name not in self._graders and len(self._graders) < _MOST_PARTS:
                clustered = self._clustering is not None
                self._graders[name] = (
                    ScoreDifferences(name, clustered), ScoreDifferences(name, clustered)
                )  # fmt: skip
            for number, each in enumerate(self._graders.get(name, ())):
                one, other = (side.get(name, ([], []))[number] for side in graded)
                each.add_scores(one, other, trials, cluster)
        for tag in dict.fromkeys(known.tags if known is not None else ()):
            if tag not in self._tags and len(self._tags) < _MOST_PARTS:
                self._tags[tag] = Differences(tag, self._clustering is not None)
            if tag in self._tags:
                self._tags[tag].add(*sides, cluster)
        measured = [list(map(_measure_amounts, side.trials)) for side in (base, head)]
        for number, amounts in enumerate(self._amounts):
            amounts.add(*(find_mean(each[number] for each in side) for side in measured))

    def figures(self) -> TrackFigures:
        graders = [held for held in self._graders.values() if held[0].pairs]
        return TrackFigures(
            *self._targets, self._passed.pairs, self._counts, self._base_errored,
            self._head_errored, self._passed.measure(), self._without_errors.measure(),
            self._trials.measure() if self._repeated else None, self._score.measure(),
            tuple(passed.measure() for passed, _ in graders),
            tuple(score.measure() for _, score in graders if score.pairs),
            tuple(each.measure() for each in self._tags.values()),
            tuple(each.measure() for each in self._amounts), self._listed,
            self._head_skipped, self._decided,
        )  # fmt: skip


def _by_grader(case: CaseTrials) -> dict[str, tuple[list[float | None], list[float | None]]]:
    """Whether each grader passed the trials of a case, and its scores."""
    found: dict[str, tuple[list[float | None], list[float | None]]] = {}
    for grade in (grade for trial in case.trials for grade in trial.grades):
        passed, scores = found.setdefault(grade.grader, ([], []))
        passed.append(float(grade.passed))
        scores.append(grade.score)
    return found


def _measure_amounts(trial: Result) -> tuple[float | None, ...]:
    """What is measured of an answer beside how good it is, in the order of `_AMOUNTS`."""
    answer = trial.answer
    if answer is None:
        return None, None, None, None
    usage = answer.usage or Usage()
    # An answer from a cache or a file cost what it cost when it was first given.
    cost_usd = answer.cost_usd if answer.earlier is None else answer.earlier.cost_usd
    return measure_answer(trial), usage.input_tokens, usage.output_tokens, cost_usd


_AMOUNTS = ("latency", "input tokens", "output tokens", "cost")


class _Noted(Struct):
    """How many cases something is true of, and the first of them."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        self.count += 1
        if self.count <= _NAMED:
            self.names.append(name)


class _Conditions:
    def __init__(self, is_within: bool) -> None:
        self._is_within = is_within
        self._asked = _Noted()
        self._graded = _Noted()
        self._repeats: Counter[tuple[int, int]] = Counter()

    def look(self, base: CaseTrials, head: CaseTrials) -> None:
        one, other = base.trials[-1], head.trials[-1]
        # In one run, what targets lay over a workspace is what is compared.
        is_meant = self._is_within and one.workspace is not None
        if one.question_hash != other.question_hash and not is_meant:
            self._asked.add(head.case)
        if base.outcome.repeats != head.outcome.repeats:
            self._repeats[base.outcome.repeats, head.outcome.repeats] += 1
        if one.grading_hash != other.grading_hash:
            self._graded.add(head.case)

    def say(self) -> Iterator[str]:
        for noted, what in (
            (self._asked, "asked a different question in head than in base"),
            (self._graded, "graded differently in head than in base"),
        ):
            if noted.count:
                cases = write_count(noted.count, "case")
                yield f"{cases} {what}: {list_some(noted.names, noted.count)}"
        for (base, head), count in self._repeats.most_common(_NAMED):
            often = f"{write_count(base, 'time')} in base and {write_count(head, 'time')} in head"
            yield f"{write_count(count, 'case')} run {often}"


def _say_sides(base: Side, head: Side) -> Iterator[str]:
    for word, side in (("base", base), ("head", head)):
        if side.choice:
            yield f"{word} is {side.choice}"
        if side.missing:
            yield f"{word} is not complete: {side.missing}"
        if side.origin:
            yield (
                f"{word} has only the cases that did not pass in {side.origin}: some of them "
                "will pass next time by chance"
            )
        elif side.part:
            yield f"{word} covers only a part: {side.part}"
        if side.mixed:
            names = ", ".join(f"`{name}`" for name in side.mixed)
            yield f"{word} has answers from before and after {names} changed"
