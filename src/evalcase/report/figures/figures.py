"""The figures of a run: plain values, of all cases and of parts of them."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from evalcase.types.result import Counts
from evalcase.types.value import Value

Interval = Literal["wilson", "exact", "sequence"]
"""How intervals are made of counts: by Wilson; never too narrow, by Clopper and Pearson; or by the
decision that ended the run."""

_FEW_CLUSTERS = 10


class Mean(Value, frozen=True):
    """A mean over cases, 0 to 1, and the 95 % interval around it."""

    n: int
    """How many cases it is of."""
    value: float | None
    """None of nothing."""
    low: float | None = None
    """None where it can't be estimated: with one case, or one cluster."""
    high: float | None = None
    clusters: int | None = None
    """How many clusters those cases are of; None where each counts for itself."""

    @property
    def is_rough(self) -> bool:
        """Whether the interval is of too few clusters to be relied on."""
        return self.clusters is not None and self.clusters < _FEW_CLUSTERS


class PassAt(Value, frozen=True):
    """What follows for several tries at a case."""

    k: int
    any: Mean
    """pass@k: at least one of k trials passes."""
    all: Mean
    """pass^k: all of them do."""


class Spread(Value, frozen=True):
    """Where the doubt about a mean comes from, in standard errors; None where it can't be told."""

    more_repeats: float | None = None
    """What is left however often these cases are repeated."""
    same_cases: float | None = None
    """By how much the mean would differ if these very cases were run again."""


class Repeats(Value, frozen=True):
    """What trials of the same cases tell; of cases with two or more."""

    cases: int
    fewest: int
    """Trials that a case has at least, and at most."""
    most: int
    share: Mean
    """The share of trials that pass, as the mean over cases."""
    flaky: int
    """Cases of which some trials passed and others did not."""
    passes: Spread
    scores: Spread
    pass_at: tuple[PassAt, ...] = ()


class Slice(Value, frozen=True):
    """Some cases of a run, or all of them."""

    cases: Counts
    """By verdict; of a grader, its grades."""
    unfinished: int
    """Cases of which some trials have no result: they are in no figure."""
    rate: Mean
    """The share that passed of those that were tried. What errored did not pass."""
    without_errors: Mean
    """The same of those that did not error."""
    score: Mean
    repeats: Repeats | None = None
    """None where no case has several trials."""
    partial: bool = False
    """Whether some trial has a score that is neither 0 nor 1."""
    failures_up_to: float | None = None
    """Where none failed: how large the true rate of failures may still be."""


class Effort(Value, frozen=True):
    """What answers took."""

    answers: int
    timed: int
    """How many answers there are of which it is known how long they took."""
    median_s: float | None
    p95_s: float | None
    total_s: float
    """All trials together, also those without an answer."""
    reported: int
    """How many answers came with their tokens."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where no answer came with its cost."""
    unpriced: int
    cached: int
    scores: tuple[int, ...] = ()
    """How many cases have a score in each tenth from 0 to 1."""


class Judging(Value, frozen=True):
    """What graders asked of targets, as judges do, and what that took."""

    asked: int
    cached: int
    """How many of the answers were given earlier."""
    input_tokens: int
    output_tokens: int
    seconds: float
    """All of them together, waiting for their turn included."""
    cost_usd: float | None
    """None where none came with its cost."""


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
    """How many cases were not begun."""
    interval: Interval = "wilson"
    cluster: str | None = None
    """The path to what cases of a cluster have in common."""
    unclustered: int = 0
    """How many cases have nothing there: each counts as a cluster of its own."""
    without: str = ""
    """Why there is no interval of all, where there are cases enough."""
    judging: Judging | None = None
    """None where no grader asked anything."""
    by_vars: dict[str, dict[str, Slice]] = field(default_factory=dict)
    """By the name of a variable, and by its value."""
    crowded: tuple[str, ...] = ()
    """Variables with too many values to group by."""
    grouping: frozenset[str] = frozenset()
    """Variables of which some value is that of several cases: an id of rows groups nothing."""
