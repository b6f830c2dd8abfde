"""Pairs of lines in, rows for a terminal out: in two columns, or one below the other.

The part of a line that differs is marked: by colour, or by carets below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

from evalcase.report.terminal.cells import (
    Cell,
    break_line,
    cells_of,
    cut_text,
    join_cells,
    measure_text,
    pad_text,
    width_of,
    wrap_text,
)
from evalcase.report.terminal.pairs import LinePair, SideLine
from evalcase.report.terminal.style import Style, paint_text

NARROWEST = 28
"""Cells that each of two columns needs."""
MOST_PAIRED_ROWS = 16
LABEL = 10


def compare_lines(
    pairs: Sequence[LinePair], width: int, style: Style, most: int = MOST_PAIRED_ROWS,
    labels: tuple[str, str] = ("expected", "got"),
) -> Iterator[str]:  # fmt: skip
    """What was expected, and what came; or whatever else the two sides are called."""
    if (width - 3) // 2 >= NARROWEST:
        yield from _in_columns(pairs, width - 3, style, most, labels)
    else:
        rows, (one, other) = 3 * most // 4, labels
        yield from _write_below(one, [a for a, _ in pairs if a], width, style, style.good, rows)
        yield from _write_below(other, [b for _, b in pairs if b], width, style, style.error, rows)


def _in_columns(
    pairs: Sequence[LinePair], width: int, style: Style, most: int, labels: tuple[str, str]
) -> Iterator[str]:
    # No wider than it has to be: short texts stand close together.
    longest = max((measure_text(a.text) for a, _ in pairs if a), default=0)
    column = max(LABEL, min(longest, width // 2))
    bar = paint_text("│", style.gutter)
    first = paint_text(pad_text(labels[0], column), style.gutter)
    yield f"{first} {bar} {paint_text(labels[1], style.gutter)}"
    rows = (
        f"{a} {bar} {b}".rstrip()
        for left, right in pairs
        for a, b in zip_longest(
            _make_rows(left, column, style, style.good),
            (row.rstrip() for row in _make_rows(right, width - column, style, style.error)),
            fillvalue=None,
        )
        for a, b in [(a if a is not None else " " * column, b or "")]
    )
    yield from _choose_first(rows, most, style, width)


def _write_below(
    label: str, lines: Sequence[SideLine], width: int, style: Style, colour: str, most: int
) -> Iterator[str]:
    room = max(10, width - LABEL)
    rows = (row.rstrip() for line in lines for row in _make_rows(line, room, style, colour))
    lead = paint_text(f"{label:<{LABEL}}", style.gutter)
    for row in _choose_first(rows, most, style, room):
        yield (lead + row).rstrip()
        lead = " " * LABEL


def _choose_first(rows: Iterator[str], most: int, style: Style, width: int) -> Iterator[str]:
    """The first rows, and how many were left out. One row more costs no more than saying so."""
    shown = list(islice(rows, most + 1))
    rest = sum(1 for _ in rows)
    if not rest:
        yield from shown
        return
    yield from shown[:-1]
    yield paint_text(cut_text(f"… {rest + 1:,} more lines", width), style.gutter)


def _make_rows(line: SideLine | None, width: int, style: Style, colour: str) -> Iterator[str]:
    """The rows of a line, each exactly as wide as its column."""
    if line is None:
        return
    if line.note:
        for row in wrap_text(line.text, width):
            yield paint_text(pad_text(row, width), style.gutter)
        return
    before, inside, after = (
        line.text[: line.start], line.text[line.start : line.end], line.text[line.end :]
    )  # fmt: skip
    first = cells_of(before)
    second = cells_of(inside, at=width_of(first))
    cells = [*first, *second, *cells_of(after, at=width_of(first) + width_of(second))]
    marks = len(first), len(first) + len(second)
    # Where all of it differs, carets would say nothing.
    carets = not colour and 0 < len(second) < len(cells)
    for start, end in break_line(cells, width):
        mark = max(start, marks[0]), min(end, marks[1])
        yield from _write_row(cells, start, end, mark, width, None if carets else colour)


def _write_row(
    cells: Sequence[Cell],
    start: int,
    end: int,
    mark: tuple[int, int],
    width: int,
    colour: str | None,
) -> Iterator[str]:
    """A row in its colour, or with carets below it where there is none."""
    blank = " " * (width - width_of(cells[start:end]))
    if mark[0] >= mark[1]:
        yield join_cells(cells[start:end]) + blank
        return
    parts = cells[start : mark[0]], cells[mark[0] : mark[1]], cells[mark[1] : end]
    yield (
        join_cells(parts[0])
        + paint_text(join_cells(parts[1]), colour or "")
        + join_cells(parts[2])
        + blank
    )
    if colour is None:
        under = " " * width_of(parts[0]) + "^" * width_of(parts[1])
        yield under + " " * (width - len(under))
