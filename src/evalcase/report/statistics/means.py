"""How far two means are apart, with the interval of Welch (1947), which takes no equal spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from evalcase.report.statistics.estimate import Estimate, Z


def estimate_difference(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """The mean of the first less that of the second; None with fewer than three of either, or where
    neither varies."""
    if min(len(first), len(second)) < 3:
        return None
    (mean, spread), (other, other_spread) = _mean(first), _mean(second)
    error = spread + other_spread
    if not error:
        return None
    freedom = error**2 / (
        spread**2 / (len(first) - 1) + other_spread**2 / (len(second) - 1)
    )  # fmt: skip
    half = t_quantile(freedom) * sqrt(error)
    return Estimate(mean - other, mean - other - half, mean - other + half)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its variance."""
    mean = fsum(values) / len(values)
    squares = fsum((value - mean) ** 2 for value in values)
    return mean, squares / (len(values) - 1) / len(values)


def t_quantile(freedom: float) -> float:
    """Of Student's distribution, at the level of all intervals here: the expansion of Cornish and
    Fisher, right to 2 % from two degrees of freedom on."""
    z, v = Z, freedom
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / v + second / v**2 + third / v**3 + fourth / v**4
