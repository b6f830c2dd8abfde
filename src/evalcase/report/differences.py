"""Pairs of numbers of two runs, added up one at a time: how far base and head are apart.

Memory grows with clusters and with distinct differences up to a limit, never with pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum, inf

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
    smallest_p,
)
from evalcase.types.value import Value, replace
from evalcase.util.table import Table

_DIGITS = 12
"""Differences that agree in as many are the same, but for the arithmetic."""


class Measured(Value, frozen=True):
    name: str
    pairs: int
    base: float | None
    """The mean; None where there are no pairs."""
    head: float | None
    better: int
    """How many pairs are higher in head."""
    worse: int
    change: Change | None
    """None where it can't be estimated."""
    p: float
    test: str
    """The name of the test that p is of."""
    least_p: float
    """What p would be if all had changed alike: where that is not small, nothing can be shown."""
    clusters: int | None = None
    """How many clusters there are, where cases are not taken one by one."""
    adjusted: float | None = None
    """p with regard to the other tests of the comparison; None where it is no part of them."""
    lost: int = 0
    """How many pairs have a number in base, and none in head, or only one of some trials."""

    @property
    def final_p(self) -> float:
        return self.p if self.adjusted is None else self.adjusted

    @property
    def units(self) -> int:
        """What counts as one: clusters, or cases."""
        return self.pairs if self.clusters is None else self.clusters


class Differences:
    def __init__(self, name: str, clustered: bool = False) -> None:
        self.name = name
        self.pairs = 0
        self.better = 0
        self.worse = 0
        self._base = 0.0
        self._head = 0.0
        self._squares = 0.0
        self._is_whole = True
        """Whether every difference is that of two verdicts: 0, or 1 in one direction."""
        self._sizes: Counter[float] = Counter()
        self._clusters: dict[str, Cluster] | None = {} if clustered else None

    def add(self, base: float, head: float, cluster: str = "") -> None:
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

    def measure(self) -> Measured:
        pairs, total = self.pairs, self._head - self._base
        clusters = None if self._clusters is None else len(self._clusters)
        if self._clusters is not None:
            change = estimate_clustered(self._clusters.values())
            totals = [cluster.total for cluster in self._clusters.values()]
            sizes = Counter(round(abs(total), _DIGITS) for total in totals)
            p, test = sign_flip_p(sizes, sum(totals)), "sign-flip by cluster"
        elif self._is_whole:
            change = estimate_verdicts(self.better, self.worse, pairs)
            p, test = mcnemar_p(self.better, self.worse), "exact McNemar"
        else:
            change = estimate_scores(pairs, total, self._squares, max(self._sizes))
            is_normal, test = len(self._sizes) > MOST_DISTINCT, "sign-flip"
            p = normal_p(total, self._squares) if is_normal else sign_flip_p(self._sizes, total)
        return Measured(
            self.name, pairs, self._base / pairs if pairs else None,
            self._head / pairs if pairs else None, self.better, self.worse, change, p,
            test, smallest_p(pairs if clusters is None else clusters), clusters,
        )  # fmt: skip


class ScoreDifferences(Differences):
    """Takes the scores of cases, which some trials may lack."""

    _lost = 0

    def add_scores(
        self, base: Sequence[float | None], head: Sequence[float | None], trials: int, cluster: str
    ) -> None:
        before, after = find_mean(base), find_mean(head)
        if before is None or not 0 <= before <= 1:  # a stranger's record has any number
            return
        after = after if after is not None and 0 <= after <= 1 else None
        self._lost += after is None or sum(score is not None for score in head) < trials
        if after is not None:
            self.add(before, after, cluster)

    def measure(self) -> Measured:
        return replace(super().measure(), lost=self._lost)


"""Bytes of pairs above which they go to a file: four amounts have one each."""
_SHORTEST_S = 0.001
"""Below that a latency is that of the machine and what else it does, and not of a target."""


class SideAmount(Value, frozen=True):
    """The amounts of one side, over the cases with both sides known."""

    median: float
    p95: float
    total: float


class Amount(Value, frozen=True):
    name: str
    pairs: int
    """Cases with both sides known."""
    base: SideAmount | None
    """None where there are none."""
    head: SideAmount | None
    ratio: Estimate | None
    """Head by base; None where it can't be estimated, or is of times that mean nothing."""
    zeros: int
    """Pairs that have no ratio, since one side is 0."""
    unknown: int
    """Pairs with one side unknown: they are in no figure."""

    @property
    def is_short(self) -> bool:
        """Whether hardly any case took a time that means something."""
        sides = self.base, self.head
        return _is_short(self.name, *(side.p95 for side in sides if side is not None))


class Amounts:
    """Takes pairs of numbers that are not below 0. It keeps them: quantiles need all."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._known = 0
        self._pairs = Table(2)
        self._ratios = Ratios()
        self._zeros = 0
        self._unknown = 0

    def add(self, base: float | None, head: float | None) -> None:
        if base is None or head is None:
            self._unknown += 1
            return
        self._known += 1
        self._pairs.add(self._known, base, head)
        if base > 0 and head > 0:
            self._ratios.add(base, head)
        else:
            self._zeros += 1

    def measure(self) -> Amount:
        base, head = (_measure_spread(row[side] for row in self._pairs) for side in (1, 2))
        sides = (side for side in (base, head) if side is not None)
        is_noise = _is_short(self.name, *(side.median for side in sides))
        return Amount(
            self.name, self._known, base, head, None if is_noise else self._ratios.estimate(),
            self._zeros, self._unknown,
        )  # fmt: skip


def _is_short(name: str, *values: float) -> bool:
    return name == "latency" and max(values, default=inf) < _SHORTEST_S


def _measure_spread(values: Iterator[float]) -> SideAmount | None:
    ordered = sorted(values)
    if not ordered:
        return None
    return SideAmount(
        find_median(ordered) or 0.0, find_percentile(ordered, 95) or 0.0, fsum(ordered)
    )


def say_seconds(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f} s"
    if value >= 0.1:
        return f"{value:.2f} s"
    return f"{1000 * value:.3g} ms" if value >= 0.001 else f"{1_000_000 * value:.3g} µs"


def say_ratio(amount: Amount) -> str:
    ratio = amount.ratio
    if ratio is None:
        return "no estimate"
    value, low, high = (f"{each:,.0f}" if each >= 100 else f"{each:#.3g}" for each in ratio)
    return f"×{value} ({low} to {high})"
