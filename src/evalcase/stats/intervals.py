"""Estimates with 95 % intervals in closed form: shares, means of units and clusters, repeats, and a
rate that is looked at while cases still run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import ceil, comb, exp, expm1, fsum, lgamma, log, log1p, sqrt
from typing import NamedTuple

LEVEL = 0.95
ALPHA = 0.05
Z = 1.959963984540054
"""The quantile of the normal distribution that leaves half of the rest on either side."""


class Estimate(NamedTuple):
    value: float
    low: float
    high: float


def clip_number(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """The nearest number that is possible."""
    return min(high, max(low, value))


_CLOSE = 1e-15
_FOUND = 1e-14
"""Near enough: what is left is the rounding of the arithmetic."""
_TINY = 1e-300
_STEPS = 200
"""Of a search that seldom takes ten; halving alone would do with a hundred."""


def share_below(x: float, a: float, b: float) -> float:
    """I_x(a, b): how much of the distribution with these two shapes lies below x."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    scale = exp(_log_density(x, a, b) + log(x) + log1p(-x))
    # On either side of the middle only one of the two fractions converges soon.
    if x < (a + 1) / (a + b + 2):
        return scale * _continue_fraction(x, a, b) / a
    return 1 - scale * _continue_fraction(1 - x, b, a) / b


def beta_quantile(share: float, a: float, b: float) -> float:
    """The number below which this share of the distribution lies."""
    low, high = 0.0, 1.0
    # Where the density is highest, steps of Newton begin on the right side and stay there.
    x = (a - 1) / (a + b - 2) if a > 1 and b > 1 else a / (a + b)
    for _ in range(_STEPS):
        missed = share_below(x, a, b) - share
        if abs(missed) <= _FOUND * share:
            break
        low, high = (low, x) if missed > 0 else (x, high)
        step = x - missed / exp(_log_density(x, a, b))
        nearer = step if low < step < high else (low + high) / 2
        if abs(nearer - x) <= _FOUND * x:
            return nearer
        x = nearer
    return x


def _log_density(x: float, a: float, b: float) -> float:
    scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    return scale + (a - 1) * log(x) + (b - 1) * log1p(-x)


def _continue_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction; its terms come in pairs."""
    below = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    above, value, m = 1.0, below, 0
    change = 0.0
    while abs(change - 1) > _CLOSE:
        m += 1
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            below = 1 / _not_zero(1 + term * below)
            above = _not_zero(1 + term / above)
            change = above * below
            value *= change
    return value


def _not_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


@lru_cache(maxsize=1024)
def t_quantile(freedom: float) -> float:
    """How many standard errors to either side of a mean hold the truth, at the level of all
    intervals here."""
    # freedom / (freedom + t²) has a beta distribution.
    outside = beta_quantile(1 - LEVEL, freedom / 2, 0.5)
    return sqrt(freedom * (1 - outside) / outside)


def estimate_share(hits: float, total: float) -> Estimate | None:
    """The share of hits; None of nothing. Counts may be those of a sample that is worth as many."""
    return estimate_around(hits / total, total) if total > 0 else None


def estimate_around(share: float, total: float) -> Estimate:
    """The same for a share that is known, and for the size of the sample that it rests on."""
    shrink = 1 + Z * Z / total
    middle = (share + Z * Z / (2 * total)) / shrink
    half = Z / shrink * sqrt(share * (1 - share) / total + Z * Z / (4 * total * total))
    # At 0 and 1 the interval ends there, but for the last digit of the arithmetic.
    low = 0.0 if share == 0 else clip_number(middle - half)
    high = 1.0 if share == 1 else clip_number(middle + half)
    return Estimate(share, low, high)


def bound_unseen(total: int) -> float:
    """How large the rate of something may still be that was not seen in as many: any larger, and
    it would have been seen in 95 of 100 such samples."""
    return -expm1(log(1 - LEVEL) / total)


def estimate_exact_around(share: float, total: float) -> Estimate:
    """The same without an approximation. The size of the sample may be an effective one, as Korn
    and Graubard (1998) take it."""
    tail, hits, missed = (1 - LEVEL) / 2, share * total, (1 - share) * total
    low = beta_quantile(tail, hits, missed + 1) if hits else 0.0
    high = 1 - beta_quantile(tail, missed, hits + 1) if missed else 1.0
    return Estimate(share, low, high)


Around = Callable[[float, float], Estimate]
"""Makes the interval of a share, from the share and the size of the sample."""


class Cluster(NamedTuple):
    cases: int
    total: float


def estimate_units(
    count: int, total: float, squares: float, around: Around = estimate_around
) -> Estimate | None:
    """The mean of units from how many they are, their sum and the sum of their squares; None with
    fewer than two, since one tells nothing of how far apart they lie."""
    if count < 2:
        return None
    mean = clip_number(total / count)
    variance = (squares - total * total / count) / (count - 1) / count
    return around(mean, effective_size(mean, variance, count))


def estimate_clusters(
    clusters: Iterable[Cluster], around: Around = estimate_around
) -> Estimate | None:
    """The mean of all cases, in doubt by how far apart whole clusters lie; None with fewer than
    two."""
    held = [cluster for cluster in clusters if cluster.cases]
    count, cases = len(held), sum(cluster.cases for cluster in held)
    if count < 2:
        return None
    mean = clip_number(fsum(cluster.total for cluster in held) / cases)
    apart = fsum((cluster.total - cluster.cases * mean) ** 2 for cluster in held)
    variance = count / (count - 1) * apart / cases**2
    return around(mean, effective_size(mean, variance, count))


def effective_size(mean: float, variance: float, units: int) -> float:
    """As many units of yes or no as leave the doubt that this variance does. Where nothing varies
    there is no telling, and each unit counts for one."""
    likely = mean * (1 - mean)
    if variance <= 1e-15 * likely or not likely:
        return units
    return likely / variance * (Z / t_quantile(units - 1)) ** 2


def find_mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def find_median(ordered: Sequence[float]) -> float | None:
    """The middle one, or the mean of the two; None of nothing."""
    count = len(ordered)
    if not count:
        return None
    return (ordered[(count - 1) // 2] + ordered[count // 2]) / 2


def find_percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The smallest that so many percent are not above: always one that was measured. None of
    nothing."""
    count = len(ordered)
    return ordered[max(0, ceil(percent * count / 100) - 1)] if count else None


def any_passes(k: int, trials: int, passed: int) -> float:
    """pass@k of a case: the share of all choices of k trials in which at least one passed. Raise
    ValueError where there are fewer trials than k, or k is none."""
    _require_trials(k, trials)
    return 1 - comb(trials - passed, k) / comb(trials, k)


def all_pass(k: int, trials: int, passed: int) -> float:
    """pass^k of a case: the share of all choices of k trials in which each one passed. Raise
    ValueError as above."""
    _require_trials(k, trials)
    return comb(passed, k) / comb(trials, k)


def _require_trials(k: int, trials: int) -> None:
    if not 1 <= k <= trials:
        raise ValueError(f"{k} of {trials} trials can't be chosen")


class StandardErrors(NamedTuple):
    """Where the doubt about a mean of repeated cases comes from."""

    more_repeats: float
    """The standard error that is left however often these cases are repeated: other cases of the
    same kind would give another mean."""
    same_cases: float
    """The standard error if these very cases were run again, as often."""


def measure_spread(
    cases: int, total: float, squares: float, within: float
) -> StandardErrors | None:
    """From the number of cases, each with two or more trials, the sum and the sum of squares of
    their means, and the sum of what those means vary by themselves (s²/m). None of fewer than two.
    """
    if cases < 2:
        return None
    variance = max(0.0, (squares - total * total / cases) / (cases - 1))
    between = max(0.0, variance - within / cases)
    return StandardErrors(sqrt(between / cases), sqrt(max(0.0, within)) / cases)


class PassSequence:
    """How many cases of a finite suite pass in all, bounded from those that were run so far.

    The prior-posterior ratio of Waudby-Smith and Ramdas (2020): a number is given up for good once
    what was seen has made it less likely by 1/alpha than it was, starting from all being alike.
    """

    def __init__(self, total: int, alpha: float = ALPHA) -> None:
        self.total = total
        self.seen = 0
        self.passed = 0
        self.low = 0
        """The fewest that may pass in all, and the most."""
        self.high = total
        self._least = log(alpha) - log(total + 1)

    def add(self, passed: bool) -> None:
        self.seen += 1
        self.passed += passed
        left = self.total - self.seen
        self.low = max(self.low, self.passed)
        self.high = min(self.high, self.passed + left)
        # What is likeliest is never given up, so the ends can be looked for on either side of it.
        likeliest = self.passed + min(left, (left + 1) * self.passed // self.seen)
        if not self._is_kept(self.low):
            self.low = min(self.high, self._find_edge(likeliest, self.low))
        if not self._is_kept(self.high):
            self.high = max(self.low, self._find_edge(likeliest, self.high))

    def _find_edge(self, kept: int, out: int) -> int:
        """The last that is kept on the way to one that is not."""
        while abs(kept - out) > 1:
            middle = (out + kept) // 2
            kept, out = (middle, out) if self._is_kept(middle) else (kept, middle)
        return kept

    def _is_kept(self, whole: int) -> bool:
        """Whether so many may pass in all: by its posterior, a beta-binomial one."""
        total, seen, passed = self.total, self.seen, self.passed
        more, left = whole - passed, total - seen
        if not 0 <= more <= left:
            return False
        ways = lgamma(left + 1) - lgamma(more + 1) - lgamma(left - more + 1)
        posterior = ways + _log_beta(1 + whole, 1 + total - whole)
        return posterior - _log_beta(1 + passed, 1 + seen - passed) > self._least


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
