"""What differs between two JSON values, but for what doesn't matter."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.json_difference import Difference, step_text
from evalcase.graders.compare.lenience import Lenience, Way
from evalcase.graders.compare.likeness import Likeness
from evalcase.types.value import JSON, are_same


def find_lenient_differences(expected: JSON, got: JSON, lenience: Lenience) -> Iterator[Difference]:
    """Every difference that counts. Neither value is deeper than those of a suite may be. Raise
    InterruptedError once nobody waits for it any more."""
    return _Comparison(lenience).differ(expected, got, (), "$")


class _Comparison:
    """One value against another, with what is known of their parts by now."""

    def __init__(self, lenience: Lenience) -> None:
        self._lenience = lenience
        self._likeness = Likeness(lenience)

    def differ(self, expected: JSON, got: JSON, way: Way, path: str) -> Iterator[Difference]:
        lenience = self._lenience
        if lenience.is_ignored(way):
            return
        if isinstance(expected, dict) and isinstance(got, dict):
            yield from self._in_mappings(expected, got, way, path)
        elif isinstance(expected, list) and isinstance(got, list):
            compare = self._in_sets if lenience.is_unordered(way) else self._in_lists
            yield from compare(expected, got, way, path)
        elif not are_same(expected, got) and not lenience.are_near(expected, got):
            wanted = f"{quote_value(expected)}{lenience.margin(expected)}"
            yield Difference(path, f"expected {wanted}, got {quote_value(got)}")

    def _in_mappings(
        self, expected: dict[str, JSON], got: dict[str, JSON], way: Way, path: str
    ) -> Iterator[Difference]:
        is_ignored = self._lenience.is_ignored
        for key, value in expected.items():
            place = path + step_text(key)
            if key in got:
                yield from self.differ(value, got[key], (*way, key), place)
            elif not is_ignored((*way, key)):
                yield Difference(place, f"missing, expected {quote_value(value)}", "missing")
        for key, value in got.items() if not self._lenience.extra else ():
            if key not in expected and not is_ignored((*way, key)):
                yield Difference(
                    path + step_text(key), f"not expected, got {quote_value(value)}", "not expected"
                )

    def _in_lists(
        self, expected: list[JSON], got: list[JSON], way: Way, path: str
    ) -> Iterator[Difference]:
        for index, (left, right) in enumerate(zip(expected, got, strict=False)):
            yield from self.differ(left, right, (*way, str(index)), f"{path}[{index}]")
        shorter = min(len(expected), len(got))
        for index, value in enumerate(expected[shorter:], shorter):
            yield Difference(
                f"{path}[{index}]", f"missing, expected {quote_value(value)}", "missing"
            )
        for index, value in enumerate(got[shorter:], shorter):
            yield Difference(
                f"{path}[{index}]", f"not expected, got {quote_value(value)}", "not expected"
            )

    def _in_sets(
        self, expected: list[JSON], got: list[JSON], way: Way, path: str
    ) -> Iterator[Difference]:
        partners = self._likeness.find_partners(expected, got, way)
        for index, partner in enumerate(partners):
            if partner is None:
                where = f"{path}[{index}]"
                yield Difference(
                    where, f"expected {quote_value(expected[index])} somewhere, and not found"
                )
        taken = {partner for partner in partners if partner is not None}
        for index, value in enumerate(got):
            if index not in taken:
                yield Difference(path, f"not expected, got {quote_value(value)} (item {index})")
