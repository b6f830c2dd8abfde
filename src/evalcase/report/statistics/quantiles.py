"""Numbers in order in, the one in the middle and those near the end out."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil


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
