"""The figures of a run, of all cases and of parts: plain values, and how they are estimated."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import floor, fsum, log10
from operator import attrgetter
from typing import Literal

from msgspec import Struct, field

from evalcase.stats.intervals import (
    Cluster,
    Estimate,
    StandardErrors,
    all_pass,
    any_passes,
    bound_unseen,
    clip_number,
    estimate_around,
    estimate_clusters,
    estimate_exact_around,
    estimate_units,
    find_median,
    find_percentile,
    measure_spread,
)
from evalcase.types.grade import Grade
from evalcase.types.result import VERDICTS, Counts, Decision, Result, Totals, Verdict
from evalcase.types.value import Value, replace

Interval = Literal["wilson", "exact", "sequence"]
"""Wilson; Clopper and Pearson, never too narrow; or none but that of the decision that ended the
run."""

_FEW_CLUSTERS = 10
_BINS = 10

PartKind = str
"""`target`, `suite`, `tag`, `grader` or, for a variable, `vars.NAME`."""
PART_KINDS: tuple[PartKind, ...] = ("target", "suite", "tag")
"""The parts whose rates are shown unless others are asked for."""

TrialCounts = tuple[int, int, int]
"""Trials of a case, or grades of a grader on a case: all, passed, errored."""
ClusterName = str | None


class Mean(Value, frozen=True):
    """A mean over cases, 0 to 1, and the 95 % interval around it."""

    n: int
    value: float | None
    """None if there are no cases."""
    low: float | None = None
    """None if it can't be estimated: with one case, with one cluster, or after an early end."""
    high: float | None = None
    clusters: int | None = None
    """The number of clusters; None if each case counts for itself."""

    @property
    def is_rough(self) -> bool:
        """Whether the interval is of too few clusters to be relied on."""
        return self.clusters is not None and self.clusters < _FEW_CLUSTERS


class PassAt(Value, frozen=True):
    k: int
    any: Mean
    """pass@k: at least one of k trials passes."""
    all: Mean
    """pass^k: all of them do."""


class Repeats(Value, frozen=True):
    cases: int
    fewest: int
    """Trials that a case has at least, and at most."""
    most: int
    share: Mean
    """The share of trials that pass, as the mean over cases."""
    flaky: int
    """Cases with trials that passed and trials that did not."""
    passes: StandardErrors | None
    """Of that share, by their source."""
    pass_at: tuple[PassAt, ...] = ()


class Slice(Value, frozen=True):
    """Some cases of a run, or all of them; a case at two targets counts twice."""

    cases: Counts
    """By verdict; of a grader, its grades."""
    unfinished: int
    """Cases that lack trials: they are in no figure."""
    rate: Mean
    """The share that passed of those that were tried. An errored case did not pass."""
    without_errors: Mean
    score: Mean
    repeats: Repeats | None = None
    partial: bool = False
    """Whether some trial has a score between 0 and 1."""
    failures_up_to: float | None = None
    """Where none failed: how large the true rate of failures may still be."""


def measure_answer(result: Result) -> float | None:
    """The seconds an answer took when it was first given; None if there is none, or if unknown. All
    latencies in reports are these numbers."""
    answer = result.answer
    if answer is None:
        return None
    return result.duration_s if answer.earlier is None else answer.earlier.duration_s


class Effort(Struct):
    """Time, tokens and money that answers took; sixteen bytes for each trial."""

    answers: int = 0
    total_s: float = 0.0
    """All trials together, also those without an answer."""
    reported: int = 0
    """Answers that came with their tokens."""
    input_tokens: int = 0
    output_tokens: int = 0
    unpriced: int = 0
    cached: int = 0
    scores: list[int] = field(default_factory=lambda: [0] * _BINS)
    """How many cases have a score in each tenth from 0 to 1; the last has 1 in it."""
    durations: array[float] = field(default_factory=lambda: array("d"))
    """Those that are known; sorted in a sum."""
    costs: array[float] = field(default_factory=lambda: array("d"))

    @classmethod
    def sum(cls, several: Iterable[Effort]) -> Effort:
        whole = cls()
        for each in several:
            for name in cls.__struct_fields__:
                if name != "scores":
                    setattr(whole, name, getattr(whole, name) + getattr(each, name))
            whole.scores = [a + b for a, b in zip(whole.scores, each.scores, strict=True)]
        whole.durations = array("d", sorted(whole.durations))
        return whole

    def add(self, result: Result) -> None:
        self.total_s += result.duration_s
        answer = result.answer
        if answer is None:
            return
        self.answers += 1
        self.cached += answer.cached
        took_s = measure_answer(result)
        if took_s is not None:
            self.durations.append(took_s)
        if answer.cost_usd is None:
            self.unpriced += 1
        else:
            self.costs.append(answer.cost_usd)
        if answer.usage is not None:
            self.reported += 1
            self.input_tokens += answer.usage.input_tokens or 0
            self.output_tokens += answer.usage.output_tokens or 0

    def add_score(self, score: float) -> None:
        self.scores[min(int(score * _BINS), _BINS - 1)] += 1

    @property
    def median_s(self) -> float | None:
        return find_median(self.durations)

    @property
    def p95_s(self) -> float | None:
        return find_percentile(self.durations, 95)

    @property
    def cost_usd(self) -> float | None:
        """None if no answer came with its cost."""
        return fsum(self.costs) if self.costs else None


class Judging(Struct):
    asked: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    """All calls together, waiting included."""
    cost_usd: float | None = None

    def add(self, grade: Grade) -> None:
        self.asked += grade.asked
        self.cached += grade.cached
        self.seconds += grade.asking_s or 0.0
        if grade.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + grade.cost_usd
        if grade.usage is not None:
            self.input_tokens += grade.usage.input_tokens or 0
            self.output_tokens += grade.usage.output_tokens or 0


class Figures(Value, frozen=True):
    """All of a run. Parts are in the order in which they first came."""

    all: Slice
    effort: Effort
    by_target: dict[str, Slice] = field(default_factory=dict)
    efforts: dict[str, Effort] = field(default_factory=dict)
    """By target."""
    by_suite: dict[str, Slice] = field(default_factory=dict)
    by_tag: dict[str, Slice] = field(default_factory=dict)
    by_grader: dict[str, Slice] = field(default_factory=dict)
    not_run: int = 0
    """Cases that were not started."""
    interval: Interval = "wilson"
    cluster: str | None = None
    """The path of the value that cases of a cluster share."""
    unclustered: int = 0
    """Cases without that value: each is a cluster of its own."""
    without: str = ""
    """Why there is no interval of all, although there are cases enough."""
    judging: Judging | None = None
    by_vars: dict[str, dict[str, Slice]] = field(default_factory=dict)
    """By the name of a variable, and by its value."""
    crowded: tuple[str, ...] = ()
    """Variables with too many values to group by."""
    distinct: int = 0
    """Cases, each counted once however many targets it has."""


class Sums(Struct):
    """The number of values, their sum, and the sum of their squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float, times: int = 1) -> None:
        self.count += times
        self.total += times * value
        self.squares += times * value * value

    def take(self, other: Sums) -> None:
        self.count += other.count
        self.total += other.total
        self.squares += other.squares


class FigureCell(Struct, eq=False):
    """Sums over cases at a target, or over one grader's grades; it does not grow with them."""

    cluster: ClusterName = None
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    """Cases by verdict; of a grader, its grades."""
    trials: Counter[TrialCounts] = field(default_factory=Counter)
    """How many cases have such trials, skipped ones left out."""
    scores: Sums = field(default_factory=Sums)
    """Of each case the mean score of its trials."""
    partial: bool = False

    def add(
        self, counted: Iterable[Verdict], trials: Sequence[Verdict], scores: Sequence[float]
    ) -> None:
        """Add a case by its verdict, or the grades of a grader on it; its trials, and the scores
        that they have."""
        for verdict in counted:
            self.verdicts[verdict] += 1
        if "skipped" not in trials:
            self.trials[len(trials), trials.count("passed"), trials.count("errored")] += 1
        if scores:
            self.scores.add(sum(scores) / len(scores))
            self.partial = self.partial or any(0 < score < 1 for score in scores)


class Estimator(Value, frozen=True):
    interval: Interval = "wilson"
    clustered: bool = False
    ks: tuple[int, ...] = ()
    """The k of pass@k; without any, as many as the case with the fewest trials has."""

    def of_cases(self, cells: Sequence[FigureCell], unfinished: int = 0) -> Slice:
        rate = self._mean(cells, _rate_cell)
        without_errors = self._mean(cells, partial(_rate_cell, errors=False))
        return self._slice(cells, rate, without_errors, unfinished, self._repeats(cells))

    def of_grader(self, cells: Sequence[FigureCell]) -> Slice:
        """Each case counts by the share of its grades that passed."""
        rate = self._mean(cells, _sum_shares)
        return self._slice(cells, rate, self._mean(cells, partial(_sum_shares, errors=False)))

    def _slice(
        self, cells: Sequence[FigureCell], rate: Mean, without_errors: Mean, unfinished: int = 0,
        repeats: Repeats | None = None,
    ) -> Slice:  # fmt: skip
        units = rate.n if rate.clusters is None else rate.clusters
        never_failed = rate.value == 1 and self.interval != "sequence"
        verdicts: Counter[Verdict] = Counter()
        for cell in cells:
            verdicts.update(cell.verdicts)
        return Slice(
            Counts.of(verdicts), unfinished, rate, without_errors,
            self._mean(cells, attrgetter("scores")), repeats, any(cell.partial for cell in cells),
            bound_unseen(units) if never_failed else None,
        )  # fmt: skip

    def _mean(self, cells: Iterable[FigureCell], sum_cell: Callable[[FigureCell], Sums]) -> Mean:
        by_cluster: dict[ClusterName, Sums] = {}
        for cell in cells:
            by_cluster.setdefault(cell.cluster, Sums()).take(sum_cell(cell))
        groups = [sums for sums in by_cluster.values() if sums.count]
        count = sum(sums.count for sums in groups)
        clusters = len(groups) if self.clustered else None
        if not count:
            return Mean(0, None, clusters=clusters)
        found = self._estimate(groups, count)
        if found is None:
            value = clip_number(sum(sums.total for sums in groups) / count)
            return Mean(count, value, clusters=clusters)
        return Mean(count, *found, clusters)

    def _estimate(self, groups: Sequence[Sums], count: int) -> Estimate | None:
        if self.interval == "sequence":
            return None
        around = estimate_around if self.interval == "wilson" else estimate_exact_around
        if self.clustered:
            return estimate_clusters((Cluster(each.count, each.total) for each in groups), around)
        total, squares = sum(each.total for each in groups), sum(each.squares for each in groups)
        if total == squares:  # only 0 and 1
            return around(total / count, count) if count > 1 else None
        return estimate_units(count, total, squares, around)

    def _repeats(self, cells: Sequence[FigureCell]) -> Repeats | None:
        several = [each for cell in cells for each in cell.trials.items() if each[0][0] > 1]
        if not several:
            return None
        tried = [trials[0] for trials, _ in several]
        fewest = min(tried)
        shares, within = Sums(), 0.0
        for (count, passed, _), times in several:
            share = passed / count
            shares.add(share, times)
            within += times * share * (1 - share) / (count - 1)
        return Repeats(
            sum(times for _, times in several), fewest, max(tried),
            self._mean(cells, partial(_sum_shares, fewest=2)),
            sum(times for (count, passed, _), times in several if 0 < passed < count),
            measure_spread(shares.count, shares.total, shares.squares, within),
            tuple(
                PassAt(
                    k, self._mean(cells, partial(_sum_chances, chance=partial(any_passes, k))),
                    self._mean(cells, partial(_sum_chances, chance=partial(all_pass, k))),
                )
                for k in self.ks or (fewest,) if k <= fewest
            ),
        )  # fmt: skip


def rate_totals(
    totals: Totals, interval: Interval = "wilson", decision: Decision | None = None
) -> Slice:
    """The rates that follow from the totals of a run alone; with the interval of a decision, where
    one ended the run."""
    cell, cases = FigureCell(), totals.cases
    cell.verdicts.update({verdict: getattr(cases, verdict) for verdict in VERDICTS})
    part = Estimator("sequence" if decision else interval).of_cases([cell], totals.unfinished)
    if decision is None:
        return part
    return replace(part, rate=replace(part.rate, low=decision.low, high=decision.high))


def _sum_shares(cell: FigureCell, *, errors: bool = True, fewest: int = 1) -> Sums:
    """Of each case with at least so many trials, the share of them that passed."""
    sums = Sums()
    for (trials, passed, errored), times in cell.trials.items():
        tried = trials if errors else trials - errored
        if trials >= fewest and tried:
            sums.add(passed / tried, times)
    return sums


def _sum_chances(cell: FigureCell, chance: Callable[[int, int], float]) -> Sums:
    """Of each case with several trials, its chance in fewer trials."""
    sums = Sums()
    for (trials, passed, _), times in cell.trials.items():
        if trials > 1:
            sums.add(chance(trials, passed), times)
    return sums


def _rate_cell(cell: FigureCell, *, errors: bool = True) -> Sums:
    """Cases that were tried, and those that passed."""
    sums, verdicts = Sums(), cell.verdicts
    sums.add(1, verdicts["passed"])
    left_out = verdicts["passed"] + verdicts["skipped"] + (0 if errors else verdicts["errored"])
    sums.add(0, verdicts.total() - left_out)
    return sums


def write_money(usd: float | None) -> str:
    """Dollars, small amounts to a hundredth of a cent, and less than that to its first digits."""
    if usd is None:
        return "–"
    if not usd:
        return "$0"
    if abs(usd) < 0.0001:
        return f"${usd:.{min(12, 1 - floor(log10(abs(usd))))}f}"
    return f"${usd:,.4f}" if abs(usd) < 10 else f"${usd:,.2f}"


def write_clock(seconds: float) -> str:
    """Time that goes by: 0:07, 12:05, 1:02:33."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def write_percent(rate: float | None) -> str:
    """To one decimal, but 100.0% only for all and 0.0% only for none."""
    if rate is None:
        return "–"
    return f"{100 * rate if rate in (0, 1) else min(99.9, max(0.1, 100 * rate)):.1f}%"


def write_interval(mean: Mean) -> str:
    """The bounds of a share; a dash if they can't be estimated."""
    if mean.low is None or mean.high is None:
        return "–"
    return f"{write_percent(mean.low)[:-1]}–{write_percent(mean.high)}"


def write_rate(mean: Mean) -> str:
    between = f" ({write_interval(mean)})" if mean.low is not None else ""
    return f"{write_percent(mean.value)}{between}"
