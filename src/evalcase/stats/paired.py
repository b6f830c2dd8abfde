"""Two runs of the same cases: the mean difference, whether chance explains it, and power.

All intervals of differences add one pair that got better and one that got worse, after Bonett and
Price (2012). Without them an interval has no width where nothing or everything changed, and holds
the truth far less often than it says for few cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, comb, erfc, exp, fsum, ldexp, lgamma, log, sqrt
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from evalcase.stats.intervals import Cluster, Estimate, Z, clip_number, share_below, t_quantile


class Change(NamedTuple):
    """The mean of head less base over all pairs. The interval is around a mean that is drawn a
    little towards 0, so that `value` need not lie in the middle of it."""

    value: float
    low: float
    high: float
    error: float
    """The standard error that the interval rests on."""


def estimate_verdicts(fixed: int, broken: int, pairs: int) -> Change | None:
    """Of pairs that are passed or not; None where there are none."""
    if pairs < 1:
        return None
    total = pairs + 2
    up, down = (fixed + 1) / total, (broken + 1) / total
    error = sqrt((up + down - (up - down) ** 2) / total)
    return _make_change((fixed - broken) / pairs, up - down, error, Z)


def estimate_scores(pairs: int, total: float, squares: float, largest: float) -> Change | None:
    """Of pairs that differ by any number: how many there are, the sum of the differences, that of
    their squares, and the largest of them without its sign. None where there are none."""
    if pairs < 1:
        return None
    count, step = pairs + 2, largest or 1.0
    middle = total / count
    variance = (squares + 2 * step * step) / count - middle * middle
    return _make_change(total / pairs, middle, sqrt(variance / count), t_quantile(pairs + 1))


def estimate_clustered(clusters: Iterable[Cluster]) -> Change | None:
    """Of pairs whose cases tend to change together; None with fewer than two clusters.

    The two that are added are whole clusters of the mean size, as far from 0 as the farthest. With
    one case in each it is the same as `estimate_scores`.
    """
    held = [cluster for cluster in clusters if cluster.cases]
    pairs, number = sum(cluster.cases for cluster in held), len(held)
    if number < 2:
        return None
    total = fsum(cluster.total for cluster in held)
    step = max(abs(cluster.total) / cluster.cases for cluster in held) or 1.0
    size = pairs / number
    count = pairs + 2 * size
    middle = total / count
    apart = fsum((cluster.total - cluster.cases * middle) ** 2 for cluster in held)
    added = size * size * 2 * (step * step + middle * middle)
    return _make_change(total / pairs, middle, sqrt(apart + added) / count, t_quantile(number + 1))


def _make_change(value: float, middle: float, error: float, factor: float) -> Change:
    half = factor * error
    return Change(value, clip_number(middle - half, -1.0), clip_number(middle + half, -1.0), error)


_FEW = 500
"""Changed verdicts up to which whole numbers are added up."""


def mcnemar_p(fixed: int, broken: int) -> float:
    """How often a fair coin, tossed for each changed verdict, is at least as lopsided: p."""
    changed, fewer = fixed + broken, min(fixed, broken)
    if changed <= _FEW:
        tail = sum(comb(changed, each) for each in range(fewer + 1)) / (1 << changed)
    else:
        tail = share_below(0.5, changed - fewer, fewer + 1)
    return min(1.0, 2 * tail)


def smallest_p(pairs: int) -> float:
    """What p would be if every pair had changed the same way: no test of so many gives less."""
    return min(1.0, ldexp(2.0, -pairs))


POWER = 0.8
_HALVINGS = 30
_ROUNDING = 1e-9


def fewest_alike(alpha: float) -> int:
    """How many verdicts have to change the same way before that is significant."""
    count = 1
    while smallest_p(count) >= alpha:
        count += 1
    return count


def cases_for_verdicts(changing: float, effect: float, alpha: float) -> int:
    """How many cases show that the pass rate changes by `effect`, where that share of verdicts
    changes one way or the other, after Connor (1987). The correction for continuity keeps it at or
    above what the exact test needs."""
    changing = min(1.0, max(changing, effect))
    z, z_power = _quantiles(alpha)
    spread = z * sqrt(changing) + z_power * sqrt(changing - effect * effect)
    cases = (spread / effect) ** 2
    return ceil(cases / 4 * (1 + sqrt(1 + 4 / (cases * effect))) ** 2 - _ROUNDING)


def visible_in_verdicts(pairs: int, changing: float, alpha: float) -> float | None:
    """The smallest change that so many pairs show; None where not even a change of all is."""
    if cases_for_verdicts(changing, 1.0, alpha) > pairs:
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_seen = cases_for_verdicts(changing, middle, alpha) <= pairs
        low, high = (low, middle) if is_seen else (middle, high)
    return high


def cases_for_scores(deviation: float, effect: float, alpha: float) -> int:
    """The same for a mean of differences that have this standard deviation."""
    return max(2, ceil((visible_in_scores(deviation, alpha) / effect) ** 2 - _ROUNDING))


def visible_in_scores(error: float, alpha: float) -> float:
    """The change that a comparison with this standard error finds four times out of five."""
    return sum(_quantiles(alpha)) * error


def _quantiles(alpha: float) -> tuple[float, float]:
    """Those of the normal distribution at a two-sided level, and at the power."""
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(POWER)


_MOST_FLIPPED = 16
"""Differences up to which every way to set the signs is counted."""
_DRAWS = 9_999
MOST_DISTINCT = 200
"""Sizes of differences above which their sum is as good as normal."""
_CLOSE = 1e-9
"""Sums that differ by less are the same, but for the arithmetic."""


def sign_flip_p(sizes: Mapping[float, int], total: float, seed: int = 0) -> float:
    """p, from how often each difference occurs, without its sign, and the sum of all with theirs.

    The seed makes it the same at every time; it decides the last digits of p only.
    """
    sizes = {size: count for size, count in sizes.items() if size > 0 and count}
    number = sum(sizes.values())
    if not number:
        return 1.0
    least = abs(total) * (1 - _CLOSE) - _CLOSE
    if number <= _MOST_FLIPPED:
        return _count_flips(sizes, least)
    if len(sizes) <= MOST_DISTINCT:
        return _draw_flips(sizes, least, Random(seed))  # noqa: S311 - repeatable, not secret
    return normal_p(total, sum(size * size * count for size, count in sizes.items()))


def normal_p(total: float, squares: float) -> float:
    """The same for very many differences, from their sum and that of their squares."""
    return erfc(abs(total) / sqrt(2 * squares)) if squares > 0 else 1.0


def _count_flips(sizes: Mapping[float, int], least: float) -> float:
    sums = [0.0]
    for size, count in sizes.items():
        for _ in range(count):
            sums = [each + sign for each in sums for sign in (size, -size)]
    return sum(abs(each) >= least for each in sums) / len(sums)


def _draw_flips(sizes: Mapping[float, int], least: float, random: Random) -> float:
    """Some of them, drawn by chance; the one that was seen counts as one more."""
    every = sum(size * count for size, count in sizes.items())
    hits = 0
    for _ in range(_DRAWS):
        plus = sum([size * random.getrandbits(count).bit_count() for size, count in sizes.items()])
        hits += abs(2 * plus - every) >= least
    return (hits + 1) / (_DRAWS + 1)


def adjust_p_values(values: Sequence[float]) -> list[float]:
    """Each p made larger after Holm (1979), so that all of them together are wrong in at most as
    many of a hundred comparisons as one alone would be."""
    order = sorted(range(len(values)), key=values.__getitem__)
    adjusted, highest = [0.0] * len(values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[at]))
        adjusted[at] = highest
    return adjusted


_MOST = 700.0
"""The largest logarithm of a float: numbers of strangers may be any."""
_FEWEST_RATIOS = 6
_EQUAL_LOGS = 1e-24
"""Squares of logarithms that differ by no more than floats are rounded by."""


class Ratios:
    """Takes ratios one by one, and holds none of them."""

    def __init__(self) -> None:
        self.count = 0
        self._mean = 0.0
        self._squares = 0.0
        """The sum of squares around the mean, of logarithms, after Welford (1962)."""

    def add(self, base: float, head: float) -> None:
        value = log(head) - log(base)
        self.count += 1
        away = value - self._mean
        self._mean += away / self.count
        self._squares += away * (value - self._mean)

    def estimate(self) -> Estimate | None:
        """Head by base; None with fewer than six pairs, since few tell little of the others, and
        where all are the same: how far others lie can't be told from that either."""
        if self.count < _FEWEST_RATIOS or self._squares <= _EQUAL_LOGS * self.count:
            return None
        error = sqrt(self._squares / (self.count - 1) / self.count)
        half = t_quantile(self.count - 1) * error
        return Estimate(*(exp(min(_MOST, self._mean + each)) for each in (0, -half, half)))


def weigh_change(fixed: int, broken: int) -> float:
    """How much what was seen speaks against as many being fixed as broken: an e-value.

    A bet that begins with 1 and is fair if there is no change: it ever comes to 1/alpha in at most
    as many of all comparisons as alpha says.
    """
    changed = fixed + broken
    ways = lgamma(changed + 1) - lgamma(fixed + 1) - lgamma(broken + 1)
    return exp(min(700.0, changed * log(2) - log(changed + 1) - ways))
