"""Latency, tokens and cost of the same cases in two runs: what they add up to, and how many times
as much it is in a case."""

from __future__ import annotations

from array import array
from math import fsum, isnan

from evalcase.model.quick_dataclass import dataclass
from evalcase.report.statistics.estimate import Estimate
from evalcase.report.statistics.quantiles import median, percentile
from evalcase.report.statistics.ratios import Ratios


@dataclass(frozen=True, slots=True)
class SideAmount:
    """What one side comes to, over the cases of which both sides are known."""

    median: float
    p95: float
    total: float


@dataclass(frozen=True, slots=True)
class Amount:
    name: str
    pairs: int
    """Cases of which both sides are known."""
    base: SideAmount | None
    """None where there are none."""
    head: SideAmount | None
    ratio: Estimate | None
    """Head by base; None where it can't be estimated."""
    zeros: int
    """Pairs that have no ratio, since one side is 0."""
    unknown: int
    """Pairs of which one side doesn't say: they are in no figure."""


class Amounts:
    """Takes pairs of numbers that are not below 0. It holds them: quantiles need all."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._base = array("d")
        self._head = array("d")
        self._ratios = Ratios()
        self._zeros = 0
        self._unknown = 0

    def add(self, base: float, head: float) -> None:
        """Take a pair; what is not a number is not known."""
        if isnan(base) or isnan(head):
            self._unknown += 1
            return
        self._base.append(base)
        self._head.append(head)
        if base > 0 and head > 0:
            self._ratios.add(base, head)
        else:
            self._zeros += 1

    def measure(self) -> Amount:
        return Amount(
            self.name, len(self._base), _spread(self._base), _spread(self._head),
            self._ratios.estimate(), self._zeros, self._unknown,
        )  # fmt: skip


def _spread(values: array[float]) -> SideAmount | None:
    if not values:
        return None
    ordered = sorted(values)
    return SideAmount(median(ordered) or 0.0, percentile(ordered, 95) or 0.0, fsum(ordered))
