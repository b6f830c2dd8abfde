"""What differs between two JSON values, but for what doesn't matter: order, extras, margins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from evalcase.graders.compare.excerpt import quote
from evalcase.graders.compare.json_difference import Difference, step_text
from evalcase.graders.compare.pairing import pair_up
from evalcase.model.json_value import JSON, same
from evalcase.model.path_steps import EVERY
from evalcase.model.quick_dataclass import dataclass

Way = tuple[str, ...]
"""Keys and indexes, from the top."""


@dataclass(frozen=True, slots=True)
class Lenience:
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

    def find_differences(self, expected: JSON, got: JSON) -> Iterator[Difference]:
        """Every difference that counts. Neither value is deeper than those of a suite may be.
        Raise InterruptedError once nobody waits for it any more."""
        return self._differ(expected, got, (), "$")

    def _differ(self, expected: JSON, got: JSON, way: Way, path: str) -> Iterator[Difference]:
        if _is_among(way, self.ignored):
            return
        if isinstance(expected, dict) and isinstance(got, dict):
            yield from self._in_mappings(expected, got, way, path)
        elif isinstance(expected, list) and isinstance(got, list):
            loose = self.unordered
            in_any_order = loose if isinstance(loose, bool) else _is_among(way, loose)
            compare = self._in_sets if in_any_order else self._in_lists
            yield from compare(expected, got, way, path)
        elif not same(expected, got) and not self._are_near(expected, got):
            yield Difference(
                path, f"expected {quote(expected)}{self._margin(expected)}, got {quote(got)}"
            )

    def _in_mappings(
        self, expected: dict[str, JSON], got: dict[str, JSON], way: Way, path: str
    ) -> Iterator[Difference]:
        for key, value in expected.items():
            place = path + step_text(key)
            if key in got:
                yield from self._differ(value, got[key], (*way, key), place)
            elif not _is_among((*way, key), self.ignored):
                yield Difference(place, f"missing, expected {quote(value)}", "missing")
        for key, value in got.items() if not self.extra else ():
            if key not in expected and not _is_among((*way, key), self.ignored):
                yield Difference(
                    path + step_text(key), f"not expected, got {quote(value)}", "not expected"
                )

    def _in_lists(
        self, expected: list[JSON], got: list[JSON], way: Way, path: str
    ) -> Iterator[Difference]:
        for index, (left, right) in enumerate(zip(expected, got, strict=False)):
            yield from self._differ(left, right, (*way, str(index)), f"{path}[{index}]")
        shorter = min(len(expected), len(got))
        for index, value in enumerate(expected[shorter:], shorter):
            yield Difference(f"{path}[{index}]", f"missing, expected {quote(value)}", "missing")
        for index, value in enumerate(got[shorter:], shorter):
            yield Difference(
                f"{path}[{index}]", f"not expected, got {quote(value)}", "not expected"
            )

    def _in_sets(
        self, expected: list[JSON], got: list[JSON], way: Way, path: str
    ) -> Iterator[Difference]:
        def are_alike(left: int, right: int) -> bool:
            if self.is_given_up():
                raise InterruptedError
            # An item may stand anywhere, so only a path that names all items can concern it.
            inside = self._differ(expected[left], got[right], (*way, EVERY), path)
            return next(inside, None) is None

        partners = pair_up(expected, got, are_alike)
        for index, partner in enumerate(partners):
            if partner is None:
                where = f"{path}[{index}]"
                yield Difference(
                    where, f"expected {quote(expected[index])} somewhere, and not found"
                )
        taken = {partner for partner in partners if partner is not None}
        for index, value in enumerate(got):
            if index not in taken:
                yield Difference(path, f"not expected, got {quote(value)} (item {index})")

    def _are_near(self, expected: JSON, got: JSON) -> bool:
        return bool(self.within) and is_number(expected) and is_number(got) and are_within(
            expected, got, self.within
        )  # fmt: skip

    def _margin(self, expected: JSON) -> str:
        return f" ± {self.within:g}" if self.within and is_number(expected) else ""


def is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_within(left: JSON, right: JSON, margin: float) -> bool:
    """Whether two numbers are no further apart; what a rounding of floats spoils is forgiven."""
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    try:
        apart = abs(left - right)
        return apart <= margin or apart - margin <= 1e-9 * max(abs(margin), abs(right) * 1e-6)
    except OverflowError:  # an integer that no float can hold
        return False


def _is_among(way: Way, paths: Sequence[Way]) -> bool:
    return any(
        len(path) == len(way)
        and all(step in (EVERY, key) for step, key in zip(path, way, strict=True))
        for path in paths
    )
