"""What differs between two JSON values, each difference with its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from evalcase.graders.compare.excerpt import quote_value
from evalcase.types.value import JSON, are_same

_SHOWN = 5
_ROOT = "$"


class Difference(NamedTuple):
    path: str
    what: str
    in_a_word: str = ""
    """The same where both values are shown beside it; nothing where its path says enough."""

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"

    @property
    def place(self) -> str:
        """Where it is, for who sees both values; nothing where all of them is."""
        if self.path == _ROOT:
            return self.in_a_word
        return f"{self.path}: {self.in_a_word}" if self.in_a_word else self.path


class Listed(NamedTuple):
    text: str
    """Empty if there is no difference."""
    paths: str


def find_differences(
    expected: JSON, got: JSON, path: str = _ROOT, extra_keys: bool = False
) -> Iterator[Difference]:
    """Every difference, in the order of the expected value.

    With `extra_keys`, a mapping may hold more than is expected; inside of lists it may not. Neither
    value is deeper than `DEEPEST`.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        yield from _in_mappings(expected, got, path, extra_keys)
    elif isinstance(expected, list) and isinstance(got, list):
        yield from _in_lists(expected, got, path)
    elif not are_same(expected, got):
        yield Difference(path, f"expected {quote_value(expected)}, got {quote_value(got)}")


def _in_mappings(
    expected: dict[str, JSON], got: dict[str, JSON], path: str, extra_keys: bool
) -> Iterator[Difference]:
    for key, value in expected.items():
        if key in got:
            yield from find_differences(value, got[key], path + step_text(key), extra_keys)
        else:
            yield Difference(
                path + step_text(key), f"missing, expected {quote_value(value)}", "missing"
            )
    if not extra_keys:
        for key, value in got.items():
            if key not in expected:
                yield Difference(
                    path + step_text(key), f"not expected, got {quote_value(value)}", "not expected"
                )


def _in_lists(expected: list[JSON], got: list[JSON], path: str) -> Iterator[Difference]:
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        yield from find_differences(left, right, f"{path}[{index}]")
    shorter = min(len(expected), len(got))
    for index, value in enumerate(expected[shorter:], shorter):
        yield Difference(f"{path}[{index}]", f"missing, expected {quote_value(value)}", "missing")
    for index, value in enumerate(got[shorter:], shorter):
        yield Difference(
            f"{path}[{index}]", f"not expected, got {quote_value(value)}", "not expected"
        )


def step_text(key: str) -> str:
    return f".{key}" if key.isidentifier() and len(key) <= 60 else f"[{quote_value(key)}]"


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
