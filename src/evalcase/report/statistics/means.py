"""How far two means are apart, with the interval of Welch (1947), which takes no equal spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from evalcase.report.statistics.estimate import Estimate
from evalcase.report.statistics.student import t_quantile


def estimate_difference(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """The mean of the first less that of the second; None with fewer than three of either, or where
    neither varies."""
    if min(len(first), len(second)) < 3:
        return None
    (mean, spread), (other, other_spread) = _measure_mean(first), _measure_mean(second)
    error = spread + other_spread
    if not error:
        return None
    freedom = error**2 / (
        spread**2 / (len(first) - 1) + other_spread**2 / (len(second) - 1)
    )  # fmt: skip
    half = t_quantile(freedom) * sqrt(error)
    return Estimate(mean - other, mean - other - half, mean - other + half)


def _measure_mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its variance."""
    mean = fsum(values) / len(values)
    squares = fsum((value - mean) ** 2 for value in values)
    return mean, squares / (len(values) - 1) / len(values)
