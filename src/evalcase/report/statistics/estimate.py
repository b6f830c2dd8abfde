"""An estimate and its 95 % interval: what every statistic here gives."""

from __future__ import annotations

from typing import NamedTuple

LEVEL = 0.95
Z = 1.959963984540054
"""The quantile of the normal distribution that leaves half of the rest on either side."""


class Estimate(NamedTuple):
    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


def clip_number(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """The nearest number that is possible."""
    return min(high, max(low, value))
