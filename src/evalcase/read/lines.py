"""Lines and columns: the one place that knows where a line ends.

A line ends at LF, CRLF or CR and at nothing else, as YAML and JSON have it. A line of JSONL is one
line whatever it holds.
"""

from __future__ import annotations

import re

from evalcase.model.problem import Span

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_LINE_FEED = re.compile(r"\n")


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends."""
    return LINE_BREAK.split(text) if "\r" in text else text.split("\n")


def span_at(text: str, index: int, length: int = 1) -> Span:
    """The span of some characters on one line."""
    before = split_lines(text[:index])
    line, column = len(before), len(before[-1]) + 1
    return Span(line, column, line, column + length)


class Lines:
    """The lines of one text, for many questions about it."""

    def __init__(self, text: str, one_line: bool = False, only_feeds: bool = False) -> None:
        """With `only_feeds`, lines end as those of a JSONL file do."""
        ends = _LINE_FEED if only_feeds else LINE_BREAK
        breaks = () if one_line else ends.finditer(text)
        self.starts = [0, *(found.end() for found in breaks)]

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets."""
        from bisect import bisect_right

        first, last = bisect_right(self.starts, start), bisect_right(self.starts, end)
        return Span(
            first, start - self.starts[first - 1] + 1, last, end - self.starts[last - 1] + 1
        )

    def offset(self, line: int, column: int) -> int:
        """The offset of a place."""
        return self.starts[line - 1] + column - 1
