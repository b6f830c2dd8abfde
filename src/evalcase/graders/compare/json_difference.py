"""What differs between two JSON values, each difference with its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from evalcase.graders.compare.excerpt import quote
from evalcase.model.json_value import JSON, depth, same
from evalcase.text.strict_json import DEEPEST

_SHOWN = 5


def too_deep(value: JSON) -> bool:
    """Whether a value is nested deeper than those of a suite may be, and so equals none of them."""
    return depth(value, DEEPEST) > DEEPEST


def find_differences(
    expected: JSON, got: JSON, path: str = "$", extra_keys: bool = False
) -> Iterator[str]:
    """Every difference, in the order of the expected value.

    With `extra_keys`, a mapping may hold more than is expected; inside of lists it may not. Neither
    value is deeper than `DEEPEST`.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        yield from _in_mappings(expected, got, path, extra_keys)
    elif isinstance(expected, list) and isinstance(got, list):
        yield from _in_lists(expected, got, path)
    elif not same(expected, got):
        yield f"{path}: expected {quote(expected)}, got {quote(got)}"


def _in_mappings(
    expected: dict[str, JSON], got: dict[str, JSON], path: str, extra_keys: bool
) -> Iterator[str]:
    for key, value in expected.items():
        if key in got:
            yield from find_differences(value, got[key], path + _step(key), extra_keys)
        else:
            yield f"{path}{_step(key)}: missing, expected {quote(value)}"
    if not extra_keys:
        for key, value in got.items():
            if key not in expected:
                yield f"{path}{_step(key)}: not expected, got {quote(value)}"


def _in_lists(expected: list[JSON], got: list[JSON], path: str) -> Iterator[str]:
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        yield from find_differences(left, right, f"{path}[{index}]")
    shorter = min(len(expected), len(got))
    for index, value in enumerate(expected[shorter:], shorter):
        yield f"{path}[{index}]: missing, expected {quote(value)}"
    for index, value in enumerate(got[shorter:], shorter):
        yield f"{path}[{index}]: not expected, got {quote(value)}"


def _step(key: str) -> str:
    return f".{key}" if key.isidentifier() and len(key) <= 60 else f"[{quote(key)}]"


def list_differences(differences: Iterable[str]) -> str:
    """The first few, and how many more there are; empty if there is none."""
    remaining = iter(differences)
    shown = list(islice(remaining, _SHOWN))
    more = sum(1 for _ in remaining)
    return "; ".join([*shown, f"and {more:,} more"] if more else shown)
