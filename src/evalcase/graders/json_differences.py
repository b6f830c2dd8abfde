"""What differs between two JSON values, each difference with its path, but for what a grader is
told to ignore: places, the order of lists, extra keys, small differences of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from math import ulp
from typing import NamedTuple

from evalcase.errors import EvalcaseError
from evalcase.types.options import EVERY
from evalcase.types.value import JSON, Value, are_same
from evalcase.util.text import as_json

_SHOWN = 5
_ROOT = "$"
_IN_A_LINE = 80
_MOST_STEPS = 500_000
"""How many values may be compared in search of partners: some seconds of work."""
_SMALL, _LARGEST = 10_000, 1_000_000
"""How many pairs there may be: to find the best pairing, and to find any."""

Way = tuple[str, ...]
"""Keys and indexes, from the top."""
Alike = Callable[[int, int], bool]


def quote_value(value: JSON) -> str:
    """A value as JSON in one line, so that text stands in quotes and line ends can be seen."""
    if isinstance(value, str):
        cut = value[:_IN_A_LINE]
        return as_json(cut) + ("…" if len(cut) < len(value) else "")
    text = as_json(value)
    return text if len(text) <= _IN_A_LINE else f"{text[:_IN_A_LINE]}…"


class Difference(NamedTuple):
    path: str
    what: str
    in_a_word: str = ""
    """The same where both values are shown beside it; empty where its path says enough."""

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"

    @property
    def place(self) -> str:
        """Where it is, for a reader who sees both values; empty where they differ as a whole."""
        if self.path == _ROOT:
            return self.in_a_word
        return f"{self.path}: {self.in_a_word}" if self.in_a_word else self.path


class Listed(NamedTuple):
    text: str
    """Empty if there is no difference."""
    paths: str


def list_differences(differences: Iterable[Difference]) -> Listed:
    """The first few, and how many more there are."""
    remaining = iter(differences)
    shown = list(islice(remaining, _SHOWN))
    left = sum(1 for _ in remaining)
    more = [f"and {left:,} more"] if left else []
    # Beside one that says more than its path, a path alone would seem to say the same.
    is_mixed = any(each.in_a_word for each in shown)
    said = [
        f"{each.place} differs" if is_mixed and not each.in_a_word else each.place
        for each in shown
        if each.place
    ]
    paths = ", ".join(said) + "".join(f" {each}" for each in more)
    return Listed("; ".join([*map(str, shown), *more]), paths)


def step_text(key: str | int) -> str:
    """One step of a path, as messages write it."""
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isidentifier() and len(key) <= 60 else f"[{quote_value(key)}]"


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
        return _is_among(way, self.ignored)

    def is_unordered(self, way: Way) -> bool:
        loose = self.unordered
        return loose if isinstance(loose, bool) else _is_among(way, loose)

    def are_near(self, expected: JSON, got: JSON) -> bool:
        return bool(self.within) and is_number(expected) and is_number(got) and are_within(
            expected, got, self.within
        )  # fmt: skip

    def inside_list(self) -> Lenience:
        return self if self.extra_in_lists or not self.extra else EXACT


EXACT = Lenience()
SUBSET = Lenience(extra=True, extra_in_lists=False)
"""Mappings may hold more than is expected; lists are equal."""


def _is_among(way: Way, paths: Sequence[Way]) -> bool:
    return any(
        len(path) == len(way)
        and all(step in (EVERY, key) for step, key in zip(path, way, strict=True))
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
    expected: JSON, got: JSON, lenience: Lenience = EXACT, path: str = _ROOT
) -> Iterator[Difference]:
    """Every difference that counts, in the order of the expected value. Neither value is deeper
    than `DEEPEST`. Raise InterruptedError once the comparison is given up."""
    return _differ(expected, got, _Search(lenience), (), path)


def _differ(
    expected: JSON, got: JSON, search: _Search, way: Way, path: str
) -> Iterator[Difference]:
    lenience = search.lenience
    if lenience.is_ignored(way):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        yield from _differ_in_mappings(expected, got, search, way, path)
    elif isinstance(expected, list) and isinstance(got, list):
        if lenience.is_unordered(way):
            yield from _differ_in_any_order(expected, got, search, way, path)
        else:
            yield from _differ_in_lists(expected, got, search, way, path)
    elif not are_same(expected, got) and not lenience.are_near(expected, got):
        margin = f" ± {lenience.within:g}" if lenience.within and is_number(expected) else ""
        what = f"expected {quote_value(expected)}{margin}, got {quote_value(got)}"
        yield Difference(path, what)


def _differ_in_mappings(
    expected: dict[str, JSON], got: dict[str, JSON], search: _Search, way: Way, path: str
) -> Iterator[Difference]:
    is_ignored = search.lenience.is_ignored
    for key, value in expected.items():
        place = path + step_text(key)
        if key in got:
            yield from _differ(value, got[key], search, (*way, key), place)
        elif not is_ignored((*way, key)):
            yield _missing(place, value)
    for key, value in got.items() if not search.lenience.extra else ():
        if key not in expected and not is_ignored((*way, key)):
            yield _not_expected(path + step_text(key), value)


def _differ_in_lists(
    expected: list[JSON], got: list[JSON], search: _Search, way: Way, path: str
) -> Iterator[Difference]:
    inside = search.inside_list()
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        yield from _differ(left, right, inside, (*way, str(index)), f"{path}[{index}]")
    shorter = min(len(expected), len(got))
    for index, value in enumerate(expected[shorter:], shorter):
        yield _missing(f"{path}[{index}]", value)
    for index, value in enumerate(got[shorter:], shorter):
        yield _not_expected(f"{path}[{index}]", value)


def _differ_in_any_order(
    expected: list[JSON], got: list[JSON], search: _Search, way: Way, path: str
) -> Iterator[Difference]:
    partners = search.find_partners(expected, got, way)
    for index, partner in enumerate(partners):
        if partner is None:
            what = f"expected {quote_value(expected[index])} somewhere, and not found"
            yield Difference(f"{path}[{index}]", what)
    taken = {partner for partner in partners if partner is not None}
    for index, value in enumerate(got):
        if index not in taken:
            yield Difference(path, f"not expected, got {quote_value(value)} (item {index})")


def _missing(path: str, value: JSON) -> Difference:
    return Difference(path, f"missing, expected {quote_value(value)}", "missing")


def _not_expected(path: str, value: JSON) -> Difference:
    return Difference(path, f"not expected, got {quote_value(value)}", "not expected")


# Lists in any order


class _Search:
    """Finds the partners of items in lists whose order doesn't matter, and remembers what it has
    compared.

    Values that are the same but for order and ignored places have the same form, so most items
    find each other by their forms. With margins or extra keys, each item may have to be compared
    with each.
    """

    def __init__(self, lenience: Lenience) -> None:
        self.lenience = lenience
        self._forms: dict[object, int] = {}
        self._known_forms: dict[tuple[int, Way], tuple[int, JSON]] = {}
        self._known: dict[tuple[int, int, Way], bool] = {}
        self._steps = 0

    def inside_list(self) -> _Search:
        inside = self.lenience.inside_list()
        return self if inside is self.lenience else _Search(inside)

    def find_partners(
        self, expected: Sequence[JSON], got: Sequence[JSON], way: Way
    ) -> list[int | None]:
        """The partner of each expected item, or None, so that as many as possible have one. Raise
        EvalcaseError where that takes too long."""
        # An item may stand anywhere, so only a path that names all items can concern it.
        inside = (*way, EVERY)
        same = pair_same(
            [self._form(each, inside) for each in expected],
            [self._form(each, inside) for each in got],
        )
        if not self.lenience.extra and not self.lenience.within:
            return same
        return pair_up(
            len(expected), len(got),
            lambda left, right: self._are_alike(expected[left], got[right], inside), same,
        )  # fmt: skip

    def _form(self, value: JSON, way: Way) -> int:
        """A number for each form of values: the same for those that don't differ."""
        if not isinstance(value, dict | list):
            return self._number((type(value) is bool, value))
        known = self._known_forms.get((id(value), way))
        if known is None:
            form = self._form_inside(value, way)
            # The value is held, because another one might come to have its identity.
            known = self._known_forms[id(value), way] = self._number(form), value
        return known[0]

    def _form_inside(self, value: dict[str, JSON] | list[JSON], way: Way) -> object:
        is_ignored = self.lenience.is_ignored
        if isinstance(value, dict):
            counted = [key for key in value if not is_ignored((*way, key))]
            return frozenset([(key, self._form(value[key], (*way, key))) for key in counted])
        if self.lenience.is_unordered(way):
            inside = (*way, EVERY)
            if is_ignored(inside):
                return len(value)
            return "any order", tuple(sorted([self._form(each, inside) for each in value]))
        ways = [(*way, str(index)) for index in range(len(value))]
        items = zip(value, ways, strict=True)
        return "in order", tuple(
            [-1 if is_ignored(where) else self._form(each, where) for each, where in items]
        )

    def _number(self, form: object) -> int:
        return self._forms.setdefault(form, len(self._forms))

    def _are_alike(self, expected: JSON, got: JSON, way: Way) -> bool:
        left, right = self._form(expected, way), self._form(got, way)
        if left == right:
            return True
        key = left, right, way
        if key not in self._known:
            if self.lenience.is_given_up():
                raise InterruptedError
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise EvalcaseError("the lists differ in too many ways to be compared in any order")
            difference = next(_differ(expected, got, self, way, _ROOT), None)
            self._known[key] = difference is None
        return self._known[key]


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
