"""What differs between two JSON values, each difference with its path, but for what a grader is
told to ignore: places, the order of lists, extra keys, small differences of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from math import ulp
from typing import NamedTuple

from evalcase.errors import EvalcaseError
from evalcase.types.options import EVERY
from evalcase.types.value import JSON, Value, are_same, canonical_text
from evalcase.util.text import as_json

_SHOWN = 5
_IN_A_LINE = 80
_MOST_STEPS = 500_000
"""How many values may be compared in search of partners: some seconds of work."""
_SMALL, _LARGEST = 10_000, 1_000_000
"""How many pairs there may be: to find the best pairing, and to find any."""

Way = tuple[str | int, ...]
"""Keys and indexes, from the top."""
Alike = Callable[[int, int], bool]


def quote_value(value: JSON) -> str:
    """A value as JSON in one line, so that text stands in quotes and line ends can be seen."""
    if isinstance(value, str):
        return as_json(value[:_IN_A_LINE]) + ("…" if len(value) > _IN_A_LINE else "")
    text = as_json(value)
    return text if len(text) <= _IN_A_LINE else f"{text[:_IN_A_LINE]}…"


def write_way(way: Way) -> str:
    """A path as messages write it: `$.items[0].name`."""
    return "$" + "".join(map(_write_step, way))


def _write_step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isidentifier() and len(key) <= 60 else f"[{quote_value(key)}]"


class Difference(NamedTuple):
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


class Listed(NamedTuple):
    text: str
    """Empty if there is no difference."""
    paths: str
    """Where they are, for a reader who sees both values; empty where those differ as a whole."""


def list_differences(differences: Iterable[Difference]) -> Listed:
    """The first few, and how many more there are."""
    remaining = iter(differences)
    shown = list(islice(remaining, _SHOWN))
    left = sum(1 for _ in remaining)
    more = [f"and {left:,} more"] if left else []
    paths = ", ".join(each.path for each in shown if each.path != "$")
    return Listed("; ".join([*map(str, shown), *more]), " ".join(filter(None, [paths, *more])))


# What counts as a difference


class Lenience(Value, frozen=True):
    """What doesn't count as a difference."""

    ignored: tuple[Way, ...] = ()
    """Where nothing is compared."""
    unordered: bool | tuple[Way, ...] = False
    """Whether, or which, lists are the same in any order."""
    extra: bool = False
    """Whether mappings may hold more than is expected."""
    extra_in_lists: bool = True
    """Whether that also holds for mappings inside of lists."""
    within: float = 0.0
    """How far numbers may be apart."""
    is_given_up: Callable[[], bool] = lambda: False
    """Whether the comparison took too long, and its result is not needed any more."""

    def is_ignored(self, way: Way) -> bool:
        return bool(self.ignored) and _is_among(way, self.ignored)

    def is_unordered(self, way: Way) -> bool:
        loose = self.unordered
        return loose if isinstance(loose, bool) else _is_among(way, loose)

    def allows_extra(self, way: Way) -> bool:
        in_list = not self.extra_in_lists and any(isinstance(step, int) for step in way)
        return self.extra and not in_list


EXACT = Lenience()
SUBSET = Lenience(extra=True, extra_in_lists=False)
"""Mappings may hold more than is expected; lists are equal."""


def _is_among(way: Way, paths: Sequence[Way]) -> bool:
    return any(
        len(path) == len(way)
        and all(step in (EVERY, str(key)) for step, key in zip(path, way, strict=True))
        for path in paths
    )


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


# Every difference


def find_differences(
    expected: JSON, got: JSON, lenience: Lenience = EXACT, way: Way = ()
) -> Iterator[Difference]:
    """Every difference that counts, in the order of the expected value. Neither value is deeper
    than `DEEPEST`. Raise InterruptedError once the comparison is given up."""
    return _Comparison(lenience).differ(expected, got, way)


class _Comparison:
    """Compares two values, and finds the partners of items in lists whose order doesn't matter.

    Values that are the same but for order and ignored places are the same text once they are
    sorted, so most items find each other by their texts. With margins or extra keys, each item may
    have to be compared with each.
    """

    def __init__(self, lenience: Lenience) -> None:
        self._lenience = lenience
        self._texts: dict[tuple[int, Way], str] = {}
        self._known: dict[tuple[str, str, Way], bool] = {}

    def differ(self, expected: JSON, got: JSON, way: Way) -> Iterator[Difference]:
        if self._lenience.is_ignored(way):
            return
        if isinstance(expected, dict) and isinstance(got, dict):
            yield from self._differ_in_mappings(expected, got, way)
        elif isinstance(expected, list) and isinstance(got, list):
            in_any_order = self._lenience.is_unordered(way)
            differ = self._differ_in_any_order if in_any_order else self._differ_in_lists
            yield from differ(expected, got, way)
        elif not are_same(expected, got):
            within = self._lenience.within if is_number(expected) else 0
            if within and is_number(got) and are_within(expected, got, within):
                return
            margin = f" ± {within:g}" if within else ""
            what = f"expected {quote_value(expected)}{margin}, got {quote_value(got)}"
            yield Difference(write_way(way), what)

    def _differ_in_mappings(
        self, expected: dict[str, JSON], got: dict[str, JSON], way: Way
    ) -> Iterator[Difference]:
        is_ignored = self._lenience.is_ignored
        for key, value in expected.items():
            place = (*way, key)
            if key in got:
                yield from self.differ(value, got[key], place)
            elif not is_ignored(place):
                yield _missing(place, value)
        for key, value in () if self._lenience.allows_extra(way) else got.items():
            if key not in expected and not is_ignored((*way, key)):
                yield not_expected((*way, key), value)

    def _differ_in_lists(
        self, expected: list[JSON], got: list[JSON], way: Way
    ) -> Iterator[Difference]:
        for index, (left, right) in enumerate(zip(expected, got, strict=False)):
            yield from self.differ(left, right, (*way, index))
        shorter = min(len(expected), len(got))
        for index, value in enumerate(expected[shorter:], shorter):
            yield _missing((*way, index), value)
        for index, value in enumerate(got[shorter:], shorter):
            yield not_expected((*way, index), value)

    def _differ_in_any_order(
        self, expected: list[JSON], got: list[JSON], way: Way
    ) -> Iterator[Difference]:
        partners = self._find_partners(expected, got, (*way, EVERY))
        for index, partner in enumerate(partners):
            if partner is None:
                what = f"expected {quote_value(expected[index])} somewhere, and not found"
                yield Difference(write_way((*way, index)), what)
        taken = set(partners)
        for index, value in enumerate(got):
            if index not in taken:
                what = f"not expected, got {quote_value(value)} (item {index})"
                yield Difference(write_way(way), what)

    def _find_partners(
        self, expected: Sequence[JSON], got: Sequence[JSON], way: Way
    ) -> list[int | None]:
        """The partner of each expected item, or None, so that as many as possible have one. An item
        may stand anywhere, so `way` names all items. Raise EvalcaseError where it takes too long.
        """
        lefts, rights = ([self._text(each, way) for each in side] for side in (expected, got))
        same = pair_same(lefts, rights)
        if not self._lenience.extra and not self._lenience.within:
            return same

        def are_alike(left: int, right: int) -> bool:
            key = lefts[left], rights[right], way
            if lefts[left] == rights[right]:
                return True
            if key not in self._known:
                if self._lenience.is_given_up():
                    raise InterruptedError
                if len(self._known) >= _MOST_STEPS:
                    what = "the lists differ in too many ways to be compared in any order"
                    raise EvalcaseError(what)
                difference = next(self.differ(expected[left], got[right], way), None)
                self._known[key] = difference is None
            return self._known[key]

        return pair_up(len(expected), len(got), are_alike, same)

    def _text(self, value: JSON, way: Way) -> str:
        """The same text for values that don't differ."""
        key = id(value), way
        if key not in self._texts:
            self._texts[key] = canonical_text(self._sort(value, way))
        return self._texts[key]

    def _sort(self, value: JSON, way: Way) -> JSON:
        """A value without its ignored parts, its lists sorted where their order doesn't matter."""
        is_ignored = self._lenience.is_ignored
        if isinstance(value, dict):
            places = {key: (*way, key) for key in value}
            return {key: self._sort(each, places[key]) for key, each in value.items()
                    if not is_ignored(places[key])}  # fmt: skip
        if isinstance(value, list):
            if self._lenience.is_unordered(way):
                return [*sorted(self._text(each, (*way, EVERY)) for each in value)]
            ways: list[Way] = [(*way, number) for number in range(len(value))]
            return [None if is_ignored(where) else self._sort(each, where)
                    for each, where in zip(value, ways, strict=True)]  # fmt: skip
        return value


def _missing(way: Way, value: JSON) -> Difference:
    return Difference(write_way(way), f"missing, expected {quote_value(value)}")


def not_expected(way: Way, value: JSON) -> Difference:
    return Difference(write_way(way), f"not expected, got {quote_value(value)}")


def pair_same(lefts: Sequence[Hashable], rights: Sequence[Hashable]) -> list[int | None]:
    """The partner of each on the left that is the same, in one pass over each side."""
    places: dict[Hashable, list[int]] = {}
    for right in reversed(range(len(rights))):
        places.setdefault(rights[right], []).append(right)
    found = [places.get(left) for left in lefts]
    return [waiting.pop() if waiting else None for waiting in found]


def pair_up(
    lefts: int, rights: int, are_alike: Alike, begun: Sequence[int | None] = ()
) -> list[int | None]:
    """The partner of each on the left, or None. Each on the right is the partner of one at most.

    Among few, as many as possible are paired; of many, each takes the first that will do. `begun`
    are partners that are known before. Raise EvalcaseError where there are too many to compare.
    """
    found = list(begun) or [None] * lefts
    taken = {right: left for left, right in enumerate(found) if right is not None}
    alone = [left for left, right in enumerate(found) if right is None]
    if len(alone) * (rights - len(taken)) > _LARGEST:
        many = f"lists of {lefts:,} and {rights:,} items"
        raise EvalcaseError(f"{many} differ in too many ways to be compared in any order")
    may_change = lefts * rights <= _SMALL

    def find_partner(left: int, tried: set[int]) -> bool:
        """Take a free one, or one whose partner finds another (an augmenting path)."""
        for right in range(rights):
            if right in tried or (right in taken and not may_change):
                continue
            if not are_alike(left, right):
                continue
            tried.add(right)
            if right not in taken or find_partner(taken[right], tried):
                taken[right], found[left] = left, right
                return True
        return False

    for left in alone:
        find_partner(left, set())
    return found
