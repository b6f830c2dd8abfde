"""A share of something counted, with the interval of Clopper and Pearson (1934): never too narrow
whatever the truth is, and therefore wider than need be on the average."""

from __future__ import annotations

from evalcase.report.statistics.beta import beta_quantile
from evalcase.report.statistics.estimate import LEVEL, Estimate


def estimate_exact(hits: int, total: int) -> Estimate | None:
    """The share of hits; None of nothing."""
    return estimate_exact_around(hits / total, total) if total > 0 else None


def estimate_exact_around(share: float, total: float) -> Estimate:
    """The same for a share that is known, and for the size of the sample that it rests on, which
    may be an effective one, as Korn and Graubard (1998) take it."""
    tail, hits, missed = (1 - LEVEL) / 2, share * total, (1 - share) * total
    low = beta_quantile(tail, hits, missed + 1) if hits else 0.0
    high = 1 - beta_quantile(tail, missed, hits + 1) if missed else 1.0
    return Estimate(share, low, high)
