"""The figures of a run, of all cases and of parts: plain values, and how they are written."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import partial
from math import floor, fsum, log10
from operator import add
from typing import Literal

from msgspec import Struct, field

from evalcase.stats.intervals import StandardErrors, find_median, find_percentile
from evalcase.types.grade import Grade
from evalcase.types.result import Counts, Result
from evalcase.types.value import Value

Interval = Literal["wilson", "exact", "sequence"]
"""Wilson; Clopper and Pearson, never too narrow; or none but that of the decision that ended the
run."""

_FEW_CLUSTERS = 10
_BINS = 10

PartKind = str
"""`target`, `suite`, `tag`, `grader` or, for a variable, `vars.NAME`."""
PART_KINDS: tuple[PartKind, ...] = ("target", "suite", "tag")
"""The parts whose rates are shown unless others are asked for."""


class Mean(Value, frozen=True):
    """A mean over cases, 0 to 1, and the 95% interval around it."""

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
    scores: list[int] = field(default_factory=partial(list, (0,) * _BINS))
    """How many cases have a score in each tenth from 0 to 1; the last has 1 in it."""
    durations: array[float] = field(default_factory=lambda: array("d"))
    """Those that are known; sorted in a sum."""
    costs: array[float] = field(default_factory=lambda: array("d"))

    @classmethod
    def sum(cls, several: Iterable[Effort]) -> Effort:
        whole = cls()
        for each in several:
            for name in _ADDED:
                setattr(whole, name, getattr(whole, name) + getattr(each, name))
            whole.scores = list(map(add, whole.scores, each.scores))
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


_ADDED = [name for name in Effort.__struct_fields__ if name != "scores"]


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


def write_money(usd: float | None) -> str:
    """Dollars, small amounts to a hundredth of a cent, and less than that to its first digits."""
    if usd is None:
        return "–"
    if not usd:
        return "$0"
    if abs(usd) < 0.0001:
        return f"${usd:.{min(12, 1 - floor(log10(abs(usd))))}f}"
    return f"${usd:,.4f}" if abs(usd) < 10 else f"${usd:,.2f}"


def write_seconds(seconds: float) -> str:
    if seconds >= 0.1:
        return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.2f} s"
    return f"{1000 * seconds:.3g} ms" if seconds >= 0.001 else "<1 ms"


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
