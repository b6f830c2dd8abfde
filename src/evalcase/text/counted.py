"""Numbers and names in words: how many there are of something, and the first of many."""

from __future__ import annotations

from collections.abc import Iterable


def write_count(number: int, noun: str) -> str:
    """A number with its noun: `1 case`, `2,000 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def list_some(shown: Iterable[str], count: int) -> str:
    """Some names of so many: `a, b and 3 more`."""
    names = list(shown)
    more = count - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
