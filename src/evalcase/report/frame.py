"""A span and its source line in, the line with that span underlined out: the picture in a report.

Widths are counted in terminal cells, so the underline fits wide characters, combining marks,
tabs and spelt-out control characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evalcase.model.problem import Excerpt, Span
from evalcase.report.style import paint
from evalcase.report.visible import visible

WIDTH = 100
"""How many cells of a source line are shown before it is cut."""

TAB = 4
ELLIPSIS = "…"


class Cell(NamedTuple):
    """What is drawn together: a character with its combining marks, or a spelt-out control."""

    text: str
    width: int


def draw_frame(
    span: Span, excerpt: Excerpt, *, width: int = WIDTH, gutter: str = "", mark: str = ""
) -> list[str]:
    """Two lines: the source with its number, and carets. `gutter` and `mark` are colours."""
    source, carets = underline(span, excerpt, width)
    bar = paint(f"  {span.line} |", gutter)
    blank = paint(f"{' ' * margin(span)}|", gutter)
    indent = carets.rstrip("^")
    return [f"{bar} {source}".rstrip(), f"{blank} {indent}{paint(carets.lstrip(), mark)}"]


def margin(span: Span | None) -> int:
    """The column under which the bars of a frame stand, for what is put below it."""
    return 3 + len(str(span.line if span else 0))


def underline(span: Span, excerpt: Excerpt, width: int = WIDTH) -> tuple[str, str]:
    """The source line, cut to a window around the span, and the carets below it."""
    text = excerpt.text.rstrip("\r\n")
    start = min(max(span.column - excerpt.column, 0), len(text))
    end = _end_in_line(span, excerpt, text, start)
    # A code point is seldom less than a cell, so this keeps the cost of huge lines small.
    first, last = max(0, start - 2 * width), min(len(text), start + 2 * width)
    before = _cells(text[first:start])
    inside = _cells(text[start : min(end, last)], at=_width(before))
    after = _cells(text[min(end, last) : last], at=_width(before) + _width(inside))
    return _assemble(
        before, inside, after, width, (first > 0 or excerpt.column > 1, last < len(text))
    )


def _end_in_line(span: Span, excerpt: Excerpt, text: str, start: int) -> int:
    if span.end_line > span.line:
        return max(start, len(text.rstrip()))
    return min(max(span.end_column - excerpt.column, start), len(text))


def _assemble(
    before: list[Cell], inside: list[Cell], after: list[Cell], width: int, cut: tuple[bool, bool]
) -> tuple[str, str]:
    # Even a span that fills the window keeps a little of what leads up to it.
    shown = _take(inside, width - min(_width(before), width // 4))
    room = width - _width(shown)
    left = _take(reversed(before), room - min(_width(after), room // 3))[::-1]
    right = _take(after, room - _width(left)) if len(shown) == len(inside) else []
    head = ELLIPSIS if cut[0] or len(left) < len(before) else ""
    tail = ELLIPSIS if cut[1] or len(shown) + len(right) < len(inside) + len(after) else ""
    source = head + "".join(cell.text for cell in [*left, *shown, *right]) + tail
    return source, " " * (len(head) + _width(left)) + "^" * max(1, _width(shown))


def _take(cells: Iterable[Cell], room: int) -> list[Cell]:
    taken: list[Cell] = []
    for cell in cells:
        room -= cell.width
        if room < 0:
            break
        taken.append(cell)
    return taken


def _width(cells: Iterable[Cell]) -> int:
    return sum(cell.width for cell in cells)


def _cells(text: str, at: int = 0) -> list[Cell]:
    cells: list[Cell] = []
    for char in text:
        cell = _tab(at) if char == "\t" else _cell(char)
        if cell.width == 0 and cells:
            cells[-1] = Cell(cells[-1].text + char, cells[-1].width)
        else:
            cells.append(cell)
        at += cell.width
    return cells


def _tab(at: int) -> Cell:
    width = TAB - at % TAB
    return Cell(" " * width, width)


def _cell(char: str) -> Cell:
    shown = visible(char)
    return Cell(shown, len(shown) if shown.isascii() else _cell_width(char))


def _cell_width(char: str) -> int:
    import unicodedata  # a big table that plain ASCII reports never need

    if unicodedata.east_asian_width(char) in "WF":
        return 2
    joins = unicodedata.category(char) in {"Mn", "Me", "Cf"} or "\u1160" <= char <= "\u11ff"
    return 0 if joins else 1
