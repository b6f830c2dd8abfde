"""A share of something counted, with the interval of Clopper and Pearson (1934): never too narrow
whatever the truth is, and therefore wider than need be on the average."""

from __future__ import annotations

from math import expm1, log

from evalcase.report.statistics.beta import beta_quantile
from evalcase.report.statistics.estimate import LEVEL, Estimate


def estimate_exact(hits: int, total: int) -> Estimate | None:
    """The share of hits; None of nothing."""
    if total < 1:
        return None
    tail = (1 - LEVEL) / 2
    missed = total - hits
    low = beta_quantile(tail, hits, missed + 1) if hits else 0.0
    high = 1 - beta_quantile(tail, missed, hits + 1) if missed else 1.0
    return Estimate(hits / total, low, high)


def bound_unseen(total: int) -> float:
    """How large the rate of something may still be that was not seen in as many: any larger, and
    it would have been seen in 95 of 100 such samples."""
    return -expm1(log(1 - LEVEL) / total)
