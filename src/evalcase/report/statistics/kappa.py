"""Agreement of two beyond chance: the kappa of Cohen (1960).

Its standard error is that of Fleiss, Cohen and Everitt (1969). That error alone gives an interval
whose lower end is above the truth in up to 8 % of samples, where 2.5 % are claimed. So the
interval is Wilson's, for a share of (1 + kappa) / 2 and a sample of the size that leaves the same
error, both from a table with a quarter more in each cell. Its lower end is above the truth in at
most 2.8 %, by exact sums and simulations with 20 to 400 labels, ten of the rarer kind expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from evalcase.report.statistics.estimate import Estimate
from evalcase.report.statistics.wilson import estimate_around

SMOOTHING = 0.25
"""What is added to each cell for the interval: an empty cell is no certainty."""


class Kappa(NamedTuple):
    value: float
    standard_error: float
    interval: Estimate


def cohen_kappa(table: Sequence[Sequence[float]]) -> Kappa | None:
    """Of a square table of counts, a row for each verdict of the one, a column for those of the
    other. None where it means nothing: both always say the same one thing, or there is nothing."""
    found = _measure_table(table)
    smooth = _measure_table([[count + SMOOTHING for count in row] for row in table])
    if found is None or smooth is None:
        return None
    return Kappa(found[0], sqrt(found[1]), estimate_kappa(found[0], *smooth))


def estimate_kappa(value: float, smooth: float, variance: float) -> Estimate:
    """A kappa with its interval, from the value and the variance by a smoothed table."""
    if variance <= 0:
        return Estimate(value, value, value)
    share = (1 + smooth) / 2
    _, low, high = estimate_around(share, 4 * share * (1 - share) / variance)
    return Estimate(value, min(value, 2 * low - 1), max(value, 2 * high - 1))


def _measure_table(table: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Kappa and its variance."""
    total = sum(map(sum, table))
    if not total:
        return None
    shares = [[count / total for count in row] for row in table]
    rows = [sum(row) for row in shares]
    columns = [sum(column) for column in zip(*shares, strict=True)]
    by_chance = sum(row * column for row, column in zip(rows, columns, strict=True))
    if by_chance >= 1 - 1e-12:
        return None
    agreed = sum(shares[each][each] for each in range(len(shares)))
    value = (agreed - by_chance) / (1 - by_chance)
    variance = _estimate_variance(shares, rows, columns, value, by_chance) / total
    return value, max(0.0, variance)


def _estimate_variance(
    shares: Sequence[Sequence[float]], rows: Sequence[float], columns: Sequence[float],
    value: float, by_chance: float,
) -> float:  # fmt: skip
    """The variance of one observation."""
    apart = 1 - value
    same = other = 0.0
    for i, row in enumerate(shares):
        for j, share in enumerate(row):
            if i == j:
                same += share * (1 - (rows[i] + columns[i]) * apart) ** 2
            else:
                other += share * (columns[i] + rows[j]) ** 2
    known = value - by_chance * apart
    return float((same + apart**2 * other - known**2) / (1 - by_chance) ** 2)
