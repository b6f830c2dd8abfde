"""Places in a text: offsets, lines and columns; where keys and values stand; faults and edits.

Each syntax composes a tree of offsets that is shaped like the value. `Positions` looks up paths in
it, and gives spans of lines and columns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable
from typing import Literal, NamedTuple

from msgspec import Struct

from evalcase.types.problem import At, Excerpt, KeyPath, Span

Format = Literal["yaml", "json", "jsonl"]
"""What a suite may be written in."""
Syntax = Format | Literal["csv", "toml"]
_LONGEST_EXCERPT = 800
LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Fault(NamedTuple):
    """Something that is wrong with a text itself."""

    code: str
    message: str
    start: int
    end: int
    """Where it is, as offsets."""
    hint: str | None = None
    fix: str | None = None
    """The text that follows the hint, where that is one exact edit."""


class FatalFaultError(Exception):
    """The text can't be read past this fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


# Lines and edits


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends."""
    return LINE_BREAK.split(text) if "\r" in text else text.split("\n")


class Lines:
    """A text and where its lines start."""

    def __init__(self, text: str, only_feeds: bool = False) -> None:
        """With `only_feeds`, lines end as those of a JSONL file do."""
        is_plain = only_feeds or "\r" not in text
        ends = re.finditer("\n" if is_plain else LINE_BREAK, text)
        self._starts = [0, *[found.end() for found in ends]]
        self._text = text

    def __getitem__(self, number: int) -> str:
        """A line without its end, by its number from 1; the last line for any number after it."""
        ends = self._starts[number] if number < len(self._starts) else None
        return self._text[self._starts[number - 1] : ends].rstrip("\r\n")

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets, as far as it is inside of the text."""
        starts, length = self._starts, len(self._text)
        start, end = min(start, length), min(end, length)
        line = end_line = bisect_right(starts, start)
        if line < len(starts) and end >= starts[line]:
            end_line = bisect_right(starts, end, line)
        return Span(line, start - starts[line - 1] + 1, end_line, end - starts[end_line - 1] + 1)

    def excerpt(self, span: Span) -> Excerpt:
        """The line that a span starts on, or the part of a very long line around its start."""
        text = self[span.line]
        if len(text) <= _LONGEST_EXCERPT:
            return Excerpt(text)
        start = max(0, span.column - 1 - _LONGEST_EXCERPT // 4)
        return Excerpt(text[start : start + _LONGEST_EXCERPT], start + 1)

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column - 1


class Edit(NamedTuple):
    """A stretch of text and the text that takes its place."""

    span: Span
    text: str


def apply_edits(text: str, edits: Iterable[Edit], format: Format) -> str:
    """The text with all edits made. They don't overlap."""
    lines = Lines(text, only_feeds=format == "jsonl")
    pieces: list[str] = []
    done = 0
    for span, new in sorted(edits):
        pieces += [text[done : lines.offset(*span[:2])], new]
        done = lines.offset(*span[2:])
    return "".join([*pieces, text[done:]])


# Keys and values


class Node(Struct, gc=False):
    """A value between two offsets of its text, with its key and the values inside of it."""

    start: int
    end: int
    children: dict[str | int, Node]
    key_start: int = -1
    key_end: int = -1
    """Where its key stands. A list item, which has none, is its own key."""
    target: Node | None = None
    """The value that an alias stands for."""
    through: Node | None = None
    """The alias in a `<<` that adds this value to its mapping."""

    @property
    def written(self) -> Node:
        """The node itself, or the one that an alias leads to."""
        return self if self.target is None else self.target.written

    @property
    def is_list(self) -> bool:
        return 0 in self.children


NO_CHILDREN: dict[str | int, Node] = {}
"""The children of every scalar. It stays empty."""


class Positions:
    """The positions of the keys and values of one text."""

    def __init__(self, lines: Lines, root: Node) -> None:
        self._lines = lines
        self._root = root

    def find(self, path: KeyPath, at: At = "value") -> tuple[Span, Span | None]:
        """The span of a value, or of its key; and that of the alias that leads there, where it is
        written elsewhere. A path that leads nowhere ends at its parent."""
        owner, value, through = self._walk(path)
        if at == "key" and owner.key_start >= 0:
            span = self._lines.span(owner.key_start, owner.key_end)
        else:
            span = self._span(owner if at == "key" else value)
        return span, None if through is None else self._span(through)

    def span(self, path: KeyPath, at: At = "value") -> Span:
        return self.find(path, at)[0]

    def written_span(self, path: KeyPath) -> Span:
        """The span of a value; of an alias, that of the value with its anchor."""
        return self._span(self._walk(path)[1].written)

    def item_paths(self, names: Container[str]) -> list[KeyPath]:
        """The paths of the items of a list: the text is that list, or has it under one of some
        names. A text without such a list is the one item."""
        paths: list[KeyPath] = [(), *((name,) for name in self._root.children if name in names)]
        for path in paths:
            items = self._walk(path)[1].written
            if items.is_list:
                return [(*path, number) for number in range(len(items.children))]
        return [()]

    def _walk(self, path: KeyPath) -> tuple[Node, Node, Node | None]:
        """The node that has the key, the value that a path leads to, and the first alias on the
        way."""
        owner = node = self._root
        through: Node | None = None
        for step in path:
            if node.target is not None:
                through = through or node
                node = node.written
            child = node.children.get(step)
            if child is None:
                break
            owner = node = child
            through = through or child.through
        return owner, node, through

    def _span(self, node: Node) -> Span:
        return self._lines.span(node.start, node.end)
