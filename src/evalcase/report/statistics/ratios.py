"""How many times as long, or as dear: the geometric mean of paired ratios, with its interval.

One case that takes a hundred times as long as the others decides a mean of seconds; of ratios each
case counts the same, and twice as long and half as long come out even.
"""

from __future__ import annotations

from math import exp, log, sqrt

from evalcase.report.statistics.estimate import Estimate
from evalcase.report.statistics.student import t_quantile

_MOST = 700.0
"""The largest logarithm of a float: numbers of strangers may be any."""
_ROUNDING = 1e-24
"""Squares of logarithms that differ by no more than floats are rounded by."""


class Ratios:
    """Takes ratios one by one, and holds none of them."""

    def __init__(self) -> None:
        self.count = 0
        self._mean = 0.0
        self._squares = 0.0
        """The sum of squares around the mean, of logarithms, after Welford (1962)."""

    def add(self, base: float, head: float) -> None:
        """Take a pair of which both are more than 0."""
        value = log(head) - log(base)
        self.count += 1
        away = value - self._mean
        self._mean += away / self.count
        self._squares += away * (value - self._mean)

    def estimate(self) -> Estimate | None:
        """Head by base; None with fewer than two pairs, since one tells nothing of the others, and
        where all are the same: how far others lie can't be told from that either."""
        if self.count < 2 or self._squares <= _ROUNDING * self.count:
            return None
        error = sqrt(self._squares / (self.count - 1) / self.count)
        half = t_quantile(self.count - 1) * error
        return Estimate(*(exp(min(_MOST, self._mean + each)) for each in (0, -half, half)))
