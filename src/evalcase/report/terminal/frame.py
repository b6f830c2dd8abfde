"""A span and its source line in, the line with that span underlined out: the picture in a report.

Widths are counted in terminal cells, so the underline fits wide characters, combining marks,
tabs and spelt-out control characters.
"""

from __future__ import annotations

from evalcase.report.terminal.cells import ELLIPSIS, Cell, cells_of, take_cells, width_of
from evalcase.report.terminal.style import paint_text
from evalcase.types.problem import Excerpt, Span

WIDTH = 100
"""How many cells of a source line are shown before it is cut."""


def draw_frame(
    span: Span, excerpt: Excerpt, *, width: int = WIDTH, gutter: str = "", mark: str = ""
) -> list[str]:
    """Two lines: the source with its number, and carets. `gutter` and `mark` are colours."""
    source, carets = underline_span(span, excerpt, width)
    bar = paint_text(f"  {span.line} |", gutter)
    blank = paint_text(f"{' ' * find_margin(span)}|", gutter)
    indent = carets.rstrip("^")
    return [f"{bar} {source}".rstrip(), f"{blank} {indent}{paint_text(carets.lstrip(), mark)}"]


def find_margin(span: Span | None) -> int:
    """The column under which the bars of a frame stand, for what is put below it."""
    return 3 + len(str(span.line if span else 0))


def underline_span(span: Span, excerpt: Excerpt, width: int = WIDTH) -> tuple[str, str]:
    """The source line, cut to a window around the span, and the carets below it."""
    text = excerpt.text.rstrip("\r\n")
    start = min(max(span.column - excerpt.column, 0), len(text))
    end = _end_in_line(span, excerpt, text, start)
    # A code point is seldom less than a cell, so this keeps the cost of huge lines small.
    first, last = max(0, start - 2 * width), min(len(text), start + 2 * width)
    before = cells_of(text[first:start])
    inside = cells_of(text[start : min(end, last)], at=width_of(before))
    after = cells_of(text[min(end, last) : last], at=width_of(before) + width_of(inside))
    return _assemble_frame(
        before, inside, after, width, (first > 0 or excerpt.column > 1, last < len(text))
    )


def _end_in_line(span: Span, excerpt: Excerpt, text: str, start: int) -> int:
    if span.end_line > span.line:
        return max(start, len(text.rstrip()))
    return min(max(span.end_column - excerpt.column, start), len(text))


def _assemble_frame(
    before: list[Cell], inside: list[Cell], after: list[Cell], width: int, cut: tuple[bool, bool]
) -> tuple[str, str]:
    # Even a span that fills the window keeps a little of what leads up to it.
    shown = take_cells(inside, width - min(width_of(before), width // 4))
    room = width - width_of(shown)
    left = take_cells(reversed(before), room - min(width_of(after), room // 3))[::-1]
    right = take_cells(after, room - width_of(left)) if len(shown) == len(inside) else []
    head = ELLIPSIS if cut[0] or len(left) < len(before) else ""
    tail = ELLIPSIS if cut[1] or len(shown) + len(right) < len(inside) + len(after) else ""
    source = head + "".join(cell.text for cell in [*left, *shown, *right]) + tail
    return source, " " * (len(head) + width_of(left)) + "^" * max(1, width_of(shown))
