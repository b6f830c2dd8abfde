"""Agreement of two beyond chance: the kappa of Cohen (1960).

Its interval is by the standard error of Fleiss, Cohen and Everitt (1969).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from evalcase.model.quick_tuple import NamedTuple
from evalcase.report.statistics.estimate import Estimate, Z, clip_number
from evalcase.report.statistics.wilson import estimate_around

_FEW = 3
"""Disagreements, below which the standard error alone promises too much: in simulations kappa was
below its bound in one sample of ten, where one in forty is allowed."""


class Kappa(NamedTuple):
    value: float
    standard_error: float
    cap: float = 1.0
    """What it is at least can't be more, whatever the error says. Where hardly anything is
    disagreed on, the error is next to nothing; but twenty that agree don't prove that all will."""

    @property
    def interval(self) -> Estimate:
        half = Z * self.standard_error
        low = clip_number(min(self.value - half, self.cap), -1)
        return Estimate(self.value, low, clip_number(self.value + half, -1))


def cohen_kappa(table: Sequence[Sequence[float]]) -> Kappa | None:
    """Of a square table of counts, a row for each verdict of the one, a column for those of the
    other. None where it means nothing: both always say the same one thing, or there is nothing."""
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
    cap = 1.0
    if (1 - agreed) * total < _FEW - 0.5:
        cap = (estimate_around(clip_number(agreed), total).low - by_chance) / (1 - by_chance)
    return Kappa(value, sqrt(max(0.0, variance)), cap)


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
