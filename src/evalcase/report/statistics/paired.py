"""How far two runs of the same cases are apart: the mean of the differences, with its interval.

All three add to what was seen one pair that got better and one that got worse, after Bonett and
Price (2012). Without them an interval has no width where nothing or everything changed, and for few
cases it holds the truth far less often than it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum, sqrt
from typing import NamedTuple

from evalcase.report.statistics.estimate import Z, clip_number
from evalcase.report.statistics.student import t_quantile
from evalcase.report.statistics.units import Cluster


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
