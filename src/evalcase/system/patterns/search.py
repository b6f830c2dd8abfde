"""A search for a pattern, and where something was found."""

from __future__ import annotations

from typing import NamedTuple


class Search(NamedTuple):
    """What is looked for, and where."""

    pattern: str
    text: str
    full: bool = False
    """Whether all of the text has to match."""
    flags: int = 0


class MatchSpan(NamedTuple):
    start: int
    end: int
