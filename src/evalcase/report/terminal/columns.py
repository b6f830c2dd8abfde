"""Rows of cells in, lines of a terminal out: the first column to the left, numbers to the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcase.report.terminal.cells import cut_text, measure_text, pad_text
from evalcase.report.terminal.style import Style, paint_text
from evalcase.util.text import make_visible

GAP = "  "
_NAME = 10
"""Cells that the first column has at least."""


def align_columns(rows: Sequence[Sequence[str]], width: int, style: Style) -> Iterator[str]:
    """The first row is the head. What does not fit is left out from the right."""
    widths = [max(map(measure_text, column)) for column in zip(*rows, strict=True)]
    while len(widths) > 2 and min(widths[0], _NAME) + _add_widths(widths) > width:
        widths.pop()
    widths[0] = min(widths[0], max(_NAME, width - _add_widths(widths)))
    for number, row in enumerate(rows):
        cells = [pad_text(cut_text(make_visible(row[0]), widths[0]), widths[0])]
        cells += [
            " " * (size - measure_text(cell)) + cell
            for cell, size in zip(row[1:], widths[1:], strict=False)
        ]
        line = GAP.join(cells).rstrip()
        yield paint_text(line, style.gutter) if number == 0 else line


def _add_widths(widths: Sequence[int]) -> int:
    return sum(widths[1:]) + len(GAP) * len(widths[1:])
