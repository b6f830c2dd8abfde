"""Text in, what a terminal draws of it out: how many cells it takes, cut and wrapped to fit.

A wide character takes two cells, a combining mark none, and a control character is spelt out, so
nothing that is measured here can steer a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from evalcase.util.text import make_visible

TAB = 4
ELLIPSIS = "…"
_PIECE = 10_000


class Cell(NamedTuple):
    """What is drawn together: a character with its combining marks, or a spelt-out control."""

    text: str
    width: int


def cut_text(text: str, width: int) -> str:
    """The first line of a text in so many cells, with an ellipsis where there is more."""
    if len(text) <= width and text.isascii() and text.isprintable():
        return text
    line, more, _ = text.partition("\n")
    cells = cells_of(line[: 2 * width + 2])  # a code point is seldom less than a cell
    if width_of(cells) <= width and len(line) <= 2 * width + 2 and not more:
        return join_cells(cells)
    return join_cells(take_cells(cells, max(0, width - 1))) + ELLIPSIS


def measure_text(text: str) -> int:
    """How many cells a text takes."""
    return len(text) if text.isascii() and text.isprintable() else width_of(cells_of(text))


def pad_text(text: str, width: int) -> str:
    """A text with spaces behind it, up to so many cells."""
    return text + " " * (width - measure_text(text))


def wrap_text(text: str, width: int) -> list[str]:
    """A text in lines of at most so many cells, broken between words where there are any.

    What was a line of its own stays one.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        # Piece by piece: the cells of a line take far more room than its text.
        for at in range(0, max(1, len(line)), _PIECE):
            cells = cells_of(line[at : at + _PIECE])
            lines += [join_cells(cells[start:end]) for start, end in break_line(cells, width)]
    return lines


def break_line(cells: Sequence[Cell], width: int) -> Iterator[tuple[int, int]]:
    """Where the rows of a line begin and end. A space at which it is broken belongs to neither."""
    start = 0
    while True:
        end = start + len(take_cells(islice(cells, start, None), width))
        if end >= len(cells):
            yield start, len(cells)
            return
        end = max(end, start + 1)  # a character that is wider than the room is drawn all the same
        space = _last_space(cells, start, end)
        yield start, end if space is None else space
        start = end if space is None else space + 1


def _last_space(cells: Sequence[Cell], start: int, end: int) -> int | None:
    """The place to break at, unless it would leave more than half of the row empty."""
    for at in range(end, start + (end - start) // 2, -1):
        if cells[at].text == " ":
            return at
    return None


def join_cells(cells: Iterable[Cell]) -> str:
    return "".join(cell.text for cell in cells)


def take_cells(cells: Iterable[Cell], room: int) -> list[Cell]:
    taken: list[Cell] = []
    for cell in cells:
        room -= cell.width
        if room < 0:
            break
        taken.append(cell)
    return taken


def width_of(cells: Iterable[Cell]) -> int:
    return sum(cell.width for cell in cells)


def cells_of(text: str, at: int = 0) -> list[Cell]:
    cells: list[Cell] = []
    for char in text:
        cell = _make_tab(at) if char == "\t" else _make_cell(char)
        if cell.width == 0 and cells:
            cells[-1] = Cell(cells[-1].text + char, cells[-1].width)
        else:
            cells.append(cell)
        at += cell.width
    return cells


def _make_tab(at: int) -> Cell:
    width = TAB - at % TAB
    return Cell(" " * width, width)


def _make_cell(char: str) -> Cell:
    shown = make_visible(char)
    return Cell(shown, len(shown) if shown.isascii() else _cell_width(char))


def _cell_width(char: str) -> int:
    import unicodedata  # a big table that plain ASCII reports never need

    if unicodedata.east_asian_width(char) in "WF":
        return 2
    joins = unicodedata.category(char) in {"Mn", "Me", "Cf"} or "\u1160" <= char <= "\u11ff"
    return 0 if joins else 1
