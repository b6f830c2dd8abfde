"""Which items of two lists in any order go with each other, by what doesn't matter between them.

Where all that doesn't matter is order and places, items that are alike have the same number, and
nothing is held against anything. With margins or extra keys each may have to be held against each:
that is done once for every two that differ, and not without an end.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.errors import EvalcaseError
from evalcase.graders.compare.canonical import Canonical
from evalcase.graders.compare.lenience import Lenience, Way
from evalcase.graders.compare.pairing import pair_same, pair_up
from evalcase.types.options import EVERY
from evalcase.types.value import JSON, are_same

_MOST_STEPS = 500_000
"""How many values may be held against others in search of a partner: some seconds of work."""


class Likeness:
    """Finds partners, and knows whom it has held against whom."""

    def __init__(self, lenience: Lenience) -> None:
        self._lenience = lenience
        self._number_of = Canonical(lenience.is_ignored, lenience.is_unordered).number_of
        self._known: dict[tuple[int, int, Way], bool] = {}
        self._steps = 0

    def find_partners(
        self, expected: Sequence[JSON], got: Sequence[JSON], way: Way
    ) -> list[int | None]:
        """The partner of each expected item of two lists, or None, so that as many as can be have
        one. Raise EvalcaseError where that is too much to find out, and InterruptedError once
        nobody waits for it any more."""
        # An item may stand anywhere, so only a path that names all items can concern it.
        inside = (*way, EVERY)
        begun = pair_same(
            [self._number_of(each, inside) for each in expected],
            [self._number_of(each, inside) for each in got],
        )
        if not self._lenience.extra and not self._lenience.within:
            return begun  # whoever is left is like nobody
        return pair_up(
            len(expected), len(got),
            lambda left, right: self._are_alike(expected[left], got[right], inside), begun,
        )  # fmt: skip

    def _are_alike(self, expected: JSON, got: JSON, way: Way) -> bool:
        left, right = self._number_of(expected, way), self._number_of(got, way)
        if left == right:
            return True
        key = left, right, way
        known = self._known.get(key)
        if known is None:
            self._count_step()
            known = self._known[key] = self._compare(expected, got, way)
        return known

    def _compare(self, expected: JSON, got: JSON, way: Way) -> bool:
        if self._lenience.is_ignored(way):
            return True
        if isinstance(expected, dict) and isinstance(got, dict):
            return self._compare_mappings(expected, got, way)
        if isinstance(expected, list) and isinstance(got, list):
            return len(expected) == len(got) and self._compare_lists(expected, got, way)
        return are_same(expected, got) or self._lenience.are_near(expected, got)

    def _compare_mappings(self, expected: dict[str, JSON], got: dict[str, JSON], way: Way) -> bool:
        is_ignored = self._lenience.is_ignored
        if not self._lenience.extra:
            beyond = [key for key in got if key not in expected]
            if any(not is_ignored((*way, key)) for key in beyond):
                return False
        missing = [key for key in expected if key not in got]
        if any(not is_ignored((*way, key)) for key in missing):
            return False
        shared = [key for key in expected if key in got]
        return all(self._are_alike(expected[key], got[key], (*way, key)) for key in shared)

    def _compare_lists(self, expected: list[JSON], got: list[JSON], way: Way) -> bool:
        if not self._lenience.is_unordered(way):
            pairs = enumerate(zip(expected, got, strict=True))
            return all(self._are_alike(*pair, (*way, str(index))) for index, pair in pairs)
        inside = (*way, EVERY)
        for each in expected:
            # Most lists that differ have an item that is like none of the other.
            if not any(self._are_alike(each, other, inside) for other in got):
                return False
        return None not in self.find_partners(expected, got, way)

    def _count_step(self) -> None:
        if self._lenience.is_given_up():
            raise InterruptedError
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise EvalcaseError("the lists differ in too many ways to be compared in any order")
