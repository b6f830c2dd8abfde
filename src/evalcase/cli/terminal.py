"""What the commands share of the terminal: its colours and its width."""

from __future__ import annotations

import os
from typing import TextIO

from evalcase.report.terminal import Screen, defuse_lines, hang_text
from evalcase.util.text import make_visible


def screen_for(stream: TextIO) -> Screen:
    """What draws for a stream: its width and, on a terminal, colours."""
    return Screen(columns_of(stream), colour=has_colour(stream))


def has_colour(stream: TextIO) -> bool:
    """A terminal, unless NO_COLOR is set or it can't show colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def is_live(stream: TextIO) -> bool:
    """Whether lines can be drawn anew: a terminal that understands more than text."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def columns_of(stream: TextIO) -> int:
    """How wide a terminal is just now; elsewhere COLUMNS, or 80."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        given = os.environ.get("COLUMNS", "")
        columns = int(given) if given.isdecimal() else 0
    return max(20, columns) if columns else 80


def prose_width(stream: TextIO) -> int | None:
    """Where prose is broken: at the edge of a terminal; nowhere in a file or a pipe, whose reader
    takes a line for one problem."""
    return columns_of(stream) if stream.isatty() else None


def write_prose(text: str, stream: TextIO) -> None:
    """Write a sentence that may hold anybody's text; on a terminal it is broken between words."""
    rows = hang_text(make_visible(text), prose_width(stream), indent=2)
    stream.writelines(row + "\n" for row in defuse_lines(rows))
