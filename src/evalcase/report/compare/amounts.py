"""Latency, tokens and cost of the same cases in two runs: what they add up to, and how many times
as much it is in a case."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum, inf, isnan
from struct import Struct

from evalcase.stats.intervals import Estimate, find_median, find_percentile
from evalcase.stats.paired import Ratios
from evalcase.types.value import Value
from evalcase.util.table import RowStore

_PAIR = Struct("<dd")
_IN_MEMORY = 1 << 20
"""Bytes of pairs above which they go to a file: four amounts have one each."""
_SHORTEST_S = 0.001
"""Below that a latency is that of the machine and what else it does, and not of a target."""


class SideAmount(Value, frozen=True):
    """What one side comes to, over the cases of which both sides are known."""

    median: float
    p95: float
    total: float


class Amount(Value, frozen=True):
    name: str
    pairs: int
    """Cases of which both sides are known."""
    base: SideAmount | None
    """None where there are none."""
    head: SideAmount | None
    ratio: Estimate | None
    """Head by base; None where it can't be estimated, or is of times that mean nothing."""
    zeros: int
    """Pairs that have no ratio, since one side is 0."""
    unknown: int
    """Pairs of which one side doesn't say: they are in no figure."""

    @property
    def is_short(self) -> bool:
        """Whether hardly any case took a time that means something."""
        sides = self.base, self.head
        return _is_short(self.name, *(side.p95 for side in sides if side is not None))


class Amounts:
    """Takes pairs of numbers that are not below 0. It keeps them: quantiles need all."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._known = 0
        self._pairs = RowStore(_PAIR.size, _IN_MEMORY)
        self._ratios = Ratios()
        self._zeros = 0
        self._unknown = 0

    def add(self, base: float, head: float) -> None:
        """Take a pair; what is not a number is not known."""
        if isnan(base) or isnan(head):
            self._unknown += 1
            return
        self._known += 1
        self._pairs.append(_PAIR.pack(base, head))
        if base > 0 and head > 0:
            self._ratios.add(base, head)
        else:
            self._zeros += 1

    def measure(self) -> Amount:
        base, head = _measure_spread(self._side(0)), _measure_spread(self._side(1))
        sides = (side for side in (base, head) if side is not None)
        is_noise = _is_short(self.name, *(side.median for side in sides))
        return Amount(
            self.name, self._known, base, head, None if is_noise else self._ratios.estimate(),
            self._zeros, self._unknown,
        )  # fmt: skip

    def _side(self, number: int) -> Iterator[float]:
        for block in self._pairs.blocks():
            for pair in _PAIR.iter_unpack(block):
                yield pair[number]


def _is_short(name: str, *values: float) -> bool:
    return name == "latency" and max(values, default=inf) < _SHORTEST_S


def _measure_spread(values: Iterator[float]) -> SideAmount | None:
    ordered = sorted(values)
    if not ordered:
        return None
    return SideAmount(
        find_median(ordered) or 0.0, find_percentile(ordered, 95) or 0.0, fsum(ordered)
    )
