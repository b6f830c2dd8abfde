"""Student's t: how wide an interval is where the spread is estimated from few."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

from evalcase.report.statistics.beta import beta_quantile
from evalcase.report.statistics.estimate import LEVEL, Z

_MANY = 1000
"""Degrees of freedom from which on the expansion is right to the last digits."""


@lru_cache(maxsize=1024)
def t_quantile(freedom: float) -> float:
    """How many standard errors to either side of a mean hold the truth, at the level of all
    intervals here."""
    if freedom > _MANY:
        return _expand_quantile(freedom)
    # freedom / (freedom + t²) has a beta distribution.
    outside = beta_quantile(1 - LEVEL, freedom / 2, 0.5)
    return sqrt(freedom * (1 - outside) / outside)


def _expand_quantile(v: float) -> float:
    """From the quantile of the normal distribution, as Cornish and Fisher do."""
    z = Z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / v + second / v**2 + third / v**3 + fourth / v**4
