"""What a comparison could have seen, and how many cases would show the change that matters: each
with a power of 80 %, in a two-sided test at 5 %."""

from __future__ import annotations

from math import ceil, sqrt

from evalcase.report.statistics.estimate import Z

Z_POWER = 0.8416212335729143
"""The quantile of the normal distribution at the power."""
_ROUNDING = 1e-9


def smallest_visible(error: float) -> float:
    """The change that a comparison with this standard error finds four times out of five."""
    return (Z + Z_POWER) * error


def cases_for_verdicts(changing: float, effect: float) -> int:
    """How many cases show that the pass rate changes by `effect`, where that share of verdicts
    changes one way or the other, after Connor (1987)."""
    changing = min(1.0, max(changing, effect))
    spread = Z * sqrt(changing) + Z_POWER * sqrt(changing - effect * effect)
    return ceil((spread / effect) ** 2 - _ROUNDING)


def cases_for_scores(deviation: float, effect: float) -> int:
    """The same for a mean of differences that have this standard deviation."""
    return max(2, ceil(((Z + Z_POWER) * deviation / effect) ** 2 - _ROUNDING))
