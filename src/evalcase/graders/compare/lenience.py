"""What doesn't matter between two JSON values: places, order, extras, margins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ulp

from evalcase.types.options import EVERY
from evalcase.types.value import JSON, Value

Way = tuple[str, ...]
"""Keys and indexes, from the top."""


class Lenience(Value, frozen=True):
    """What doesn't count as a difference."""

    ignored: tuple[Way, ...] = ()
    """Where nothing is compared."""
    unordered: bool | tuple[Way, ...] = False
    """Whether, or which, lists are the same in any order."""
    extra: bool = False
    """Whether mappings may hold more than is expected."""
    within: float = 0.0
    """How far numbers may be apart."""
    is_given_up: Callable[[], bool] = lambda: False
    """Whether nobody waits for it any more."""

    def is_ignored(self, way: Way) -> bool:
        return _is_among(way, self.ignored)

    def is_unordered(self, way: Way) -> bool:
        loose = self.unordered
        return loose if isinstance(loose, bool) else _is_among(way, loose)

    def are_near(self, expected: JSON, got: JSON) -> bool:
        return bool(self.within) and is_number(expected) and is_number(got) and are_within(
            expected, got, self.within
        )  # fmt: skip

    def margin(self, expected: JSON) -> str:
        return f" ± {self.within:g}" if self.within and is_number(expected) else ""


def is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_within(left: JSON, right: JSON, margin: float) -> bool:
    """Whether two numbers are no further apart. Whole ones are compared exactly; of others, what
    is lost by writing them in binary is forgiven: 1.1 is within 0.1 of 1."""
    left, right = _make_whole(left), _make_whole(right)
    are_whole = isinstance(left, int) and isinstance(right, int)
    try:
        noise = ulp(margin) if are_whole else ulp(max(abs(left), abs(right), margin))
        return abs(left - right) <= margin + 2 * noise
    except OverflowError:  # an integer that no float can hold
        return False


def _make_whole(number: JSON) -> int | float:
    assert isinstance(number, int | float)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _is_among(way: Way, paths: Sequence[Way]) -> bool:
    return any(
        len(path) == len(way)
        and all(step in (EVERY, key) for step, key in zip(path, way, strict=True))
        for path in paths
    )
