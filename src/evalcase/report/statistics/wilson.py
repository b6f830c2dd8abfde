"""A share of something counted, with the interval of Wilson (1927): right for few and for all."""

from __future__ import annotations

from math import expm1, log, sqrt

from evalcase.report.statistics.estimate import LEVEL, Estimate, Z, clip_number


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
