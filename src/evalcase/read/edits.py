"""Edits of a text at known places: every other character stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evalcase.model.problem import Span
from evalcase.read.document import Format
from evalcase.read.lines import Lines


class Edit(NamedTuple):
    """What takes the place of a stretch of text."""

    span: Span
    text: str


def apply_edits(text: str, edits: Iterable[Edit], format: Format) -> str:
    """The text with all edits made. They don't overlap."""
    lines = Lines(text, only_feeds=format == "jsonl")
    pieces: list[str] = []
    done = 0
    for span, new in sorted(edits):
        begin, end = lines.offset(*span[:2]), lines.offset(*span[2:])
        pieces += [text[done:begin], new]
        done = end
    return "".join([*pieces, text[done:]])
