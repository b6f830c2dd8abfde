"""The mean of what several units gave, each 0 to 1, with an interval that is right for few and for
means near the edge: that of Wilson, for as many units of yes or no as would leave the same doubt.

A unit is a case at a target, by the mean of its trials; or a cluster of such cases, where those of
one cluster tend to come out alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import fsum
from typing import NamedTuple

from evalcase.report.statistics.estimate import Estimate, Z, clip_number
from evalcase.report.statistics.student import t_quantile
from evalcase.report.statistics.wilson import estimate_around

Around = Callable[[float, float], Estimate]
"""Makes the interval of a share, from the share and the size of the sample."""


class Cluster(NamedTuple):
    """How many cases it has, and the sum of what they gave."""

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
