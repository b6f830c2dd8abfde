"""Two sides in, their comparison out: what became of each case, and how far base and head of each
target are apart. Cases are paired by suite and id; targets by name, unless each side has only one.

Memory grows with clusters and with distinct differences up to a limit, never with pairs: what needs
all of them keeps them in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import NamedTuple

from msgspec import field

from evalcase.report.aggregate import Clustering
from evalcase.report.evaluated import CaseTrials, say_mixed
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
from evalcase.stats.intervals import Cluster, Estimate, find_mean, find_median, find_percentile
from evalcase.stats.paired import (
    MOST_DISTINCT,
    Change,
    Ratios,
    estimate_clustered,
    estimate_scores,
    estimate_verdicts,
    mcnemar_p,
    normal_p,
    sign_flip_p,
)
from evalcase.types.answer import Usage
from evalcase.types.case import Case
from evalcase.types.result import Result, Verdict
from evalcase.types.target import TrialKey
from evalcase.types.value import Value
from evalcase.util.table import Table
from evalcase.util.text import list_some, write_count

_NAMED = 3
_MOST_NAMED = 10_000
"""Cases of a kind whose names are kept. All of them are counted."""
_MOST_PARTS = 1_000
"""Tags, or graders, that are told apart."""
_DIGITS = 12
"""Differences that agree in as many are the same, but for the arithmetic."""
_SHORTEST_S = 0.001
"""Below that a latency is that of the machine and what else it does, and not of a target."""


class Tested(NamedTuple):
    change: Change | None
    """None where it can't be estimated."""
    p: float
    test: str
    """The name of the test that p is of."""


class Measured:
    """Takes pairs of numbers, and measures by how much head is above base."""

    def __init__(self, name: str, clustered: bool = False) -> None:
        self.name = name
        self.pairs = 0
        self.better = 0
        """How many pairs are higher in head."""
        self.worse = 0
        self.lost = 0
        """How many pairs have a number in base, and none in head, or only one of some trials."""
        self.adjusted: float | None = None
        """p with regard to the other tests of the comparison; None where it is no part of them."""
        self._base = self._head = self._squares = 0.0
        self._is_whole = True
        """Whether every difference is that of two verdicts: 0, or 1 in one direction."""
        self._sizes: Counter[float] = Counter()
        self._clusters: dict[str, Cluster] | None = {} if clustered else None

    def add(self, base: float, head: float, cluster: str) -> None:
        difference = head - base
        self.pairs += 1
        self._base += base
        self._head += head
        if self._clusters is not None:
            cases, total = self._clusters.get(cluster, (0, 0.0))
            self._clusters[cluster] = Cluster(cases + 1, total + difference)
        if difference:
            self.better += difference > 0
            self.worse += difference < 0
            self._squares += difference * difference
            size = abs(difference)
            self._is_whole = self._is_whole and size == 1
            if len(self._sizes) <= MOST_DISTINCT:
                self._sizes[round(size, _DIGITS)] += 1

    def add_scores(
        self, base: Sequence[float | None], head: Sequence[float | None], trials: int, cluster: str
    ) -> None:
        """Add the scores of a case, which some of its trials may lack."""
        before, after = find_mean(base), find_mean(head)
        if before is None or not 0 <= before <= 1:  # a stranger's record has any number
            return
        after = after if after is not None and 0 <= after <= 1 else None
        self.lost += after is None or sum(score is not None for score in head) < trials
        if after is not None:
            self.add(before, after, cluster)

    @property
    def base(self) -> float | None:
        """The mean; None where there are no pairs."""
        return self._base / self.pairs if self.pairs else None

    @property
    def head(self) -> float | None:
        return self._head / self.pairs if self.pairs else None

    @property
    def clusters(self) -> int | None:
        """How many clusters there are, where cases are not taken one by one."""
        return None if self._clusters is None else len(self._clusters)

    @property
    def units(self) -> int:
        """What counts as one: clusters, or cases."""
        return self.pairs if self.clusters is None else self.clusters

    @property
    def change(self) -> Change | None:
        return self.tested.change

    @property
    def final_p(self) -> float:
        return self.tested.p if self.adjusted is None else self.adjusted

    @cached_property
    def tested(self) -> Tested:
        """To be looked at when all pairs are there."""
        pairs, total = self.pairs, self._head - self._base
        if self._clusters is not None:
            totals = [cluster.total for cluster in self._clusters.values()]
            sizes = Counter(round(abs(total), _DIGITS) for total in totals)
            change, p = estimate_clustered(self._clusters.values()), sign_flip_p(sizes, sum(totals))
            return Tested(change, p, "sign-flip by cluster")
        if self._is_whole:
            change = estimate_verdicts(self.better, self.worse, pairs)
            return Tested(change, mcnemar_p(self.better, self.worse), "exact McNemar")
        change = estimate_scores(pairs, total, self._squares, max(self._sizes))
        is_normal = len(self._sizes) > MOST_DISTINCT
        p = normal_p(total, self._squares) if is_normal else sign_flip_p(self._sizes, total)
        return Tested(change, p, "sign-flip")


class Spread(NamedTuple):
    """The amounts of one side, over the cases with both sides known."""

    median: float
    p95: float
    total: float


class Amounts:
    """Takes pairs of numbers that are not below 0. It keeps them: quantiles need all."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pairs = 0
        """Cases with both sides known."""
        self.zeros = 0
        """Pairs that have no ratio, since one side is 0."""
        self.unknown = 0
        """Pairs with one side unknown: they are in no figure."""
        self._pairs = Table(2)
        self._ratios = Ratios()

    def add(self, base: float | None, head: float | None) -> None:
        if base is None or head is None:
            self.unknown += 1
            return
        self.pairs += 1
        self._pairs.add(self.pairs, base, head)
        if base > 0 and head > 0:
            self._ratios.add(base, head)
        else:
            self.zeros += 1

    @cached_property
    def sides(self) -> tuple[Spread, Spread] | None:
        """Base and head; None where there are none. To be looked at when all pairs are there."""
        if not self.pairs:
            return None
        base, head = (sorted(row[side] for row in self._pairs) for side in (1, 2))
        return _measure_spread(base), _measure_spread(head)

    @property
    def ratio(self) -> Estimate | None:
        """Head by base; None where it can't be estimated, or is of times that mean nothing."""
        medians = [side.median for side in self.sides or ()]
        return None if self._are_short(medians) else self._ratios.estimate()

    @property
    def is_short(self) -> bool:
        """Whether hardly any case took a time that means something."""
        return self._are_short([side.p95 for side in self.sides or ()])

    def _are_short(self, values: Sequence[float]) -> bool:
        return self.name == "latency" and max(values, default=_SHORTEST_S) < _SHORTEST_S


def _measure_spread(ordered: Sequence[float]) -> Spread:
    median, p95 = find_median(ordered), find_percentile(ordered, 95)
    return Spread(median or 0.0, p95 or 0.0, fsum(ordered))


class ChangedPair(NamedTuple):
    """A case that has changed, and where its answers are found; None where there is none."""

    name: PlacedName
    base: TrialKey | None
    head: TrialKey | None
    base_verdict: Verdict | None
    head_verdict: Verdict | None


class Track:
    """A target of both sides. It takes the pairs of cases, and holds only the names of what
    changed, up to a limit."""

    def __init__(self, base_target: str, head_target: str, clustering: Clustering | None) -> None:
        clustered = clustering is not None
        self.base_target = base_target
        self.head_target = head_target
        self.counts: dict[ChangeKind, int] = dict.fromkeys(CHANGE_KINDS, 0)
        self.listed: dict[ChangeKind, list[ChangedPair]] = {kind: [] for kind in NAMED_KINDS}
        """The first of each kind, but for those that are the same."""
        self.base_errored = self.head_errored = 0
        """Trials that errored, of cases that are compared."""
        self.head_skipped = 0
        """Cases that only head has skipped."""
        self.decided = 0
        """Cases that are compared and errored on neither side."""
        self.passed = Measured("passed", clustered)
        """Whether cases passed. What errored did not."""
        self.without_errors = Measured("passed", clustered)
        """The same, of pairs without errored trials."""
        self.score = Measured("score", clustered)
        self.amounts = [Amounts(name) for name in _AMOUNTS]
        self.tags: dict[str, Measured] = {}
        self._graders: dict[str, tuple[Measured, Measured]] = {}
        self._trials = Measured("trials", clustered)
        self._is_repeated = False
        self._clustering = clustering

    @property
    def pairs(self) -> int:
        """Cases that are compared: both sides have a verdict, and neither was skipped."""
        return self.passed.pairs

    @property
    def is_same(self) -> bool:
        """Whether nothing became of any case that is compared."""
        return self.counts["same"] == self.pairs

    @property
    def trials(self) -> Measured | None:
        """The share of trials that passed; None where no case has several."""
        return self._trials if self._is_repeated else None

    @property
    def graders(self) -> list[Measured]:
        """Whether each grader passed a case."""
        return [passed for passed, _ in self._graders.values() if passed.pairs]

    @property
    def grader_scores(self) -> list[Measured]:
        return [score for passed, score in self._graders.values() if passed.pairs and score.pairs]

    def note(self, pair: CasePair) -> None:
        kind, base, head = pair.kind, pair.base, pair.head
        self.counts[kind] += 1
        changed = ChangedPair(
            pair.name,
            None if base is None else base.telling.key,
            None if head is None else head.telling.key,
            None if base is None else base.outcome.verdict,
            None if head is None else head.outcome.verdict,
        )
        self.head_skipped += kind == "skipped" and changed.base_verdict != "skipped"
        if kind == "skipped" and changed.base_verdict == changed.head_verdict:
            return
        if kind in self.listed and len(self.listed[kind]) < _MOST_NAMED:
            self.listed[kind].append(changed)

    def compare(self, base: CaseTrials, head: CaseTrials, known: Case | None) -> None:
        clustered, cluster = self._clustering is not None, ""
        if self._clustering is not None:
            cluster = self._clustering.find(head.trials[0], known)
        sides = float(base.verdict == "passed"), float(head.verdict == "passed")
        errored = count_errored(base), count_errored(head)
        self.passed.add(*sides, cluster)
        self.decided += "errored" not in (base.verdict, head.verdict)
        if not any(errored):
            self.without_errors.add(*sides, cluster)
        self.base_errored += errored[0]
        self.head_errored += errored[1]
        trials = len(head.trials)
        self._is_repeated = self._is_repeated or len(base.trials) > 1 or trials > 1
        self._trials.add(
            base.outcome.passed / len(base.trials), head.outcome.passed / trials, cluster
        )
        before, after = ([trial.score for trial in side.trials] for side in (base, head))
        self.score.add_scores(before, after, trials, cluster)
        graded = _by_grader(base), _by_grader(head)
        for name in dict.fromkeys((*graded[1], *graded[0])):
            if name not in self._graders and len(self._graders) < _MOST_PARTS:
                self._graders[name] = Measured(name, clustered), Measured(name, clustered)
            for number, each in enumerate(self._graders.get(name, ())):
                one, other = (side.get(name, ([], []))[number] for side in graded)
                each.add_scores(one, other, trials, cluster)
        for tag in dict.fromkeys(known.tags if known is not None else ()):
            if tag in self.tags or len(self.tags) < _MOST_PARTS:
                self.tags.setdefault(tag, Measured(tag, clustered)).add(*sides, cluster)
        measured = [list(map(_measure_amounts, side.trials)) for side in (base, head)]
        for number, amounts in enumerate(self.amounts):
            amounts.add(*(find_mean(each[number] for each in side) for side in measured))


def count_errored(case: CaseTrials) -> int:
    return sum(trial.verdict == "errored" for trial in case.trials)


def _by_grader(case: CaseTrials) -> dict[str, tuple[list[float | None], list[float | None]]]:
    """Whether each grader passed the trials of a case, and its scores."""
    found: dict[str, tuple[list[float | None], list[float | None]]] = {}
    for grade in (grade for trial in case.trials for grade in trial.grades):
        passed, scores = found.setdefault(grade.grader, ([], []))
        passed.append(float(grade.passed))
        scores.append(grade.score)
    return found


_AMOUNTS = ("latency", "input tokens", "output tokens", "cost")


def _measure_amounts(trial: Result) -> tuple[float | None, ...]:
    """What is measured of an answer beside how good it is, in the order of `_AMOUNTS`."""
    answer = trial.answer
    if answer is None:
        return None, None, None, None
    usage = answer.usage or Usage()
    # An answer from a cache or a file cost what it cost when it was first given.
    cost_usd = answer.cost_usd if answer.earlier is None else answer.earlier.cost_usd
    return measure_answer(trial), usage.input_tokens, usage.output_tokens, cost_usd


class Comparison(Value, frozen=True):
    base: Side
    head: Side
    remarks: tuple[str, ...]
    """What differs beside the answers: to be said before any number."""
    tracks: tuple[Track, ...]
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

    def count(self, kind: ChangeKind) -> int:
        return sum(track.counts[kind] for track in self.tracks)


def compare_sides(
    base: Side, head: Side, targets: Mapping[str, str], clustering: Clustering | None = None,
    *, chosen: bool = False,
) -> Comparison:  # fmt: skip
    """Compare the targets of head that are named with those of base that they are paired with.
    Targets without a pair count as missing, unless a person has `chosen` the targets."""
    paired, conditions = PairedCases(base, head, targets), _Conditions(base is head)
    tracks = {name: Track(targets[name], name, clustering) for name in targets}
    # A gate is not met with errors of what has no pair, either.
    only_paired = chosen or base is head
    base_errored = head_errored = 0
    lost: Counter[str] = Counter()
    for case in paired.read_base():
        is_compared = case.target in targets.values()
        if is_compared or not only_paired:
            base_errored += count_errored(case)
            lost[case.target] += not is_compared and case.target not in head.stored.targets
    for pair in paired.pairs():
        track = tracks.get(pair.name.target)
        if pair.head is not None and (track is not None or not only_paired):
            head_errored += count_errored(pair.head)
        if track is None:
            continue
        track.note(pair)
        is_compared = pair.kind not in ("skipped", "unfinished")
        if pair.base is not None and pair.head is not None and is_compared:
            known = head.stored.find_case(pair.head.suite, pair.head.case)
            conditions.look(pair.base, pair.head)
            track.compare(pair.base, pair.head, known)
    alone = {*base.stored.targets, *head.stored.targets} - {*targets, *targets.values()}
    remarks = _list_remarks(base, head, list(tracks.values()), conditions)
    return Comparison(
        base, head, tuple(remarks), tuple(tracks.values()), tuple(sorted(alone)), +lost,
        base_errored, head_errored,
    )  # fmt: skip


_ASKED = "asked a different question in head than in base"
_GRADED = "graded differently in head than in base"


class _Conditions:
    """What was not the same for the sides of a case: how often, and the first of these cases."""

    def __init__(self, is_within: bool) -> None:
        self._is_within = is_within
        self._counts = {_ASKED: 0, _GRADED: 0}
        self._names: dict[str, list[str]] = {_ASKED: [], _GRADED: []}
        self._repeats: Counter[tuple[int, int]] = Counter()

    def look(self, base: CaseTrials, head: CaseTrials) -> None:
        one, other = base.trials[-1], head.trials[-1]
        # In one run, what targets lay over a workspace is what is compared.
        is_meant = self._is_within and one.workspace is not None
        if one.question_hash != other.question_hash and not is_meant:
            self._note(_ASKED, head.case)
        if one.grading_hash != other.grading_hash:
            self._note(_GRADED, head.case)
        if base.outcome.repeats != head.outcome.repeats:
            self._repeats[base.outcome.repeats, head.outcome.repeats] += 1

    def _note(self, what: str, case: str) -> None:
        self._counts[what] += 1
        if self._counts[what] <= _NAMED:
            self._names[what].append(case)

    def say(self) -> Iterator[str]:
        for what, count in self._counts.items():
            if count:
                yield f"{write_count(count, 'case')} {what}: {list_some(self._names[what], count)}"
        for (base, head), count in self._repeats.most_common(_NAMED):
            often = f"{write_count(base, 'time')} in base and {write_count(head, 'time')} in head"
            yield f"{write_count(count, 'case')} run {often}"


def _list_remarks(
    base: Side, head: Side, tracks: Sequence[Track], conditions: _Conditions
) -> Iterator[str]:
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
            yield f"{word} has {say_mixed(side.mixed)}"
    in_base = sum(track.base_errored for track in tracks)
    in_head = sum(track.head_errored for track in tracks)
    if in_base or in_head:
        errored = f"{write_count(in_base, 'trial')} errored in base and {in_head:,} in head"
        yield f"{errored}: they count as not passed"
    yield from conditions.say()
    kinds: tuple[tuple[ChangeKind, str, Side], ...]
    kinds = ("added", "only in head", base), ("removed", "only in base", head)
    for kind, words, other in kinds:
        count = sum(track.counts[kind] for track in tracks)
        if count and not other.part:  # where the other covers a part, that is said already
            yield f"{write_count(count, 'case')} {words}"
