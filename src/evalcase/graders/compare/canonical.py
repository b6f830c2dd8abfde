"""Numbers that stand for JSON values: those that are the same, but for what doesn't matter, have
the same one. So items of lists in any order find each other without being held against each."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.graders.compare.lenience import Way
from evalcase.types.options import EVERY
from evalcase.types.value import JSON


class Canonical:
    """Gives values their numbers. It keeps those that it was given: they must not change."""

    def __init__(
        self, is_ignored: Callable[[Way], bool], is_unordered: Callable[[Way], bool]
    ) -> None:
        self._is_ignored = is_ignored
        self._is_unordered = is_unordered
        self._numbers: dict[object, int] = {}
        self._known: dict[tuple[int, Way], tuple[int, JSON]] = {}

    def number_of(self, value: JSON, way: Way) -> int:
        if not isinstance(value, dict | list):
            return self._number((type(value) is bool, value))
        known = self._known.get((id(value), way))
        if known is None:
            inside = self._in_mapping if isinstance(value, dict) else self._in_list
            # With the value, as another one might come to have its identity.
            known = self._number(inside(value, way)), value  # type: ignore[arg-type]
            self._known[id(value), way] = known
        return known[0]

    def _in_mapping(self, value: dict[str, JSON], way: Way) -> object:
        ways = {key: (*way, key) for key in value}
        counted = [key for key in value if not self._is_ignored(ways[key])]
        return frozenset([(key, self.number_of(value[key], ways[key])) for key in counted])

    def _in_list(self, value: list[JSON], way: Way) -> object:
        if self._is_unordered(way):
            inside = (*way, EVERY)
            if self._is_ignored(inside):
                return len(value)
            return "any order", tuple(sorted([self.number_of(each, inside) for each in value]))
        return "in order", tuple([
            self.number_of(each, (*way, str(index)))
            if not self._is_ignored((*way, str(index))) else -1
            for index, each in enumerate(value)
        ])  # fmt: skip

    def _number(self, form: object) -> int:
        return self._numbers.setdefault(form, len(self._numbers))
