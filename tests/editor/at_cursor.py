"""Texts in which `|` is where the cursor stands."""

from evalcase.editor.cursor import Cursor, find_cursor
from evalcase.format.positions import Format


def place(text: str) -> tuple[list[str], int, int]:
    """The lines of the text without the mark, and its line and column, counted from 0."""
    before, mark, after = text.partition("|")
    assert mark, "a text with a cursor has a `|`"
    return (before + after).split("\n"), before.count("\n"), len(before) - before.rfind("\n") - 1


def cursor_in(text: str, format: Format = "yaml") -> Cursor:
    lines, line, column = place(text)
    return find_cursor(lines, format, line, column)
