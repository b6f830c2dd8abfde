"""Two texts in, lines that show where they differ out: in two columns, or one below the other.

Lines that are equal are paired, long stretches of them left out, and the part of a line that
differs is marked: by colour, or by carets below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from evalcase.report.terminal.cells import Cell, break_line, cells_of, cut, measure, pad, width_of
from evalcase.report.terminal.style import Style, paint

NARROWEST = 28
"""Cells that each of two columns needs."""
MOST_ROWS = 16
_LABEL = 10
_CONTEXT = 2
_BEFORE, _AFTER = 40, 60
"""Characters that are kept of what is equal before and after a difference within a line."""


class Line(NamedTuple):
    """A line of one side, and which part of it differs from the other side."""

    text: str
    start: int = 0
    end: int = 0
    note: bool = False
    """Whether it is a remark on what was left out."""


Pair = tuple[Line | None, Line | None]


def compare_lines(left: str, right: str, width: int, style: Style) -> Iterator[str]:
    """What was expected, and what came."""
    pairs = list(_pairs(left, right))
    if (width - 3) // 2 >= NARROWEST:
        yield from _in_columns(pairs, width - 3, style)
    else:
        yield from _below("expected", [a for a, _ in pairs if a], width, style, style.good)
        yield from _below("got", [b for _, b in pairs if b], width, style, style.error)


def _in_columns(pairs: Sequence[Pair], width: int, style: Style) -> Iterator[str]:
    # No wider than it has to be: short texts stand close together.
    longest = max(measure(a.text) for a, _ in pairs if a)
    column = max(_LABEL, min(longest, width // 2))
    bar = paint("│", style.gutter)
    yield f"{paint(pad('expected', column), style.gutter)} {bar} {paint('got', style.gutter)}"
    rows = (
        f"{a} {bar} {b}".rstrip()
        for left, right in pairs
        for a, b in zip_longest(
            _rows(left, column, style, style.good),
            (row.rstrip() for row in _rows(right, width - column, style, style.error)),
            fillvalue=None,
        )
        for a, b in [(a if a is not None else " " * column, b or "")]
    )
    yield from _first(rows, MOST_ROWS, style)


def _below(
    label: str, lines: Sequence[Line], width: int, style: Style, colour: str
) -> Iterator[str]:
    room = max(10, width - _LABEL)
    rows = (row.rstrip() for line in lines for row in _rows(line, room, style, colour))
    lead = paint(f"{label:<{_LABEL}}", style.gutter)
    for row in _first(rows, 3 * MOST_ROWS // 4, style):
        yield (lead + row).rstrip()
        lead = " " * _LABEL


def _first(rows: Iterator[str], most: int, style: Style) -> Iterator[str]:
    """The first rows, and how many were left out. One row more costs no more than saying so."""
    shown = list(islice(rows, most + 1))
    rest = sum(1 for _ in rows)
    if not rest:
        yield from shown
        return
    yield from shown[:-1]
    yield paint(f"… {rest + 1:,} more lines", style.gutter)


def _rows(line: Line | None, width: int, style: Style, colour: str) -> Iterator[str]:
    """The rows of a line, each exactly as wide as its column."""
    if line is None:
        return
    if line.note:
        yield paint(pad(cut(line.text, width), width), style.gutter)
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
        yield from _row(cells, start, end, mark, width, None if carets else colour)


def _row(
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
        yield _text(cells[start:end]) + blank
        return
    parts = cells[start : mark[0]], cells[mark[0] : mark[1]], cells[mark[1] : end]
    yield _text(parts[0]) + paint(_text(parts[1]), colour or "") + _text(parts[2]) + blank
    if colour is None:
        under = " " * width_of(parts[0]) + "^" * width_of(parts[1])
        yield under + " " * (width - len(under))


def _text(cells: Sequence[Cell]) -> str:
    return "".join(cell.text for cell in cells)


def _pairs(expected: str, got: str) -> Iterator[Pair]:
    left, right = expected.split("\n"), got.split("\n")
    if not expected or not got:
        yield from zip_longest(_all(left), _all(right))
        return
    if len(left) == len(right) == 1:
        yield _differing(left[0], right[0])
        return
    from difflib import SequenceMatcher

    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            first, last = a == 0, b == len(left)
            yield from ((line, line) for line in _equal(left[a:b], first, last))
        else:
            for one, other in zip_longest(left[a:b], right[c:d]):
                if one is not None and other is not None:
                    yield _differing(one, other)
                else:
                    yield _alone(one), _alone(other)


def _all(lines: list[str]) -> list[Line]:
    return [Line("(empty)", note=True)] if lines == [""] else [Line(x, 0, len(x)) for x in lines]


def _alone(text: str | None) -> Line | None:
    return None if text is None else Line(text, 0, len(text))


def _equal(lines: list[str], first: bool, last: bool) -> Iterator[Line]:
    """Equal lines: those next to a difference, and how many others there are."""
    head = 0 if first else _CONTEXT
    tail = 0 if last else _CONTEXT
    left_out = len(lines) - head - tail
    if left_out <= 1:
        yield from map(Line, lines)
        return
    yield from map(Line, lines[:head])
    yield Line(f"… {left_out:,} equal lines", note=True)
    yield from map(Line, lines[len(lines) - tail :])


def _differing(left: str, right: str) -> tuple[Line, Line]:
    """Two lines with the part that differs, and not too much of what is equal around it."""
    most = min(len(left), len(right))
    start = next((i for i in range(most) if left[i] != right[i]), most)
    end = next((i for i in range(most - start) if left[-1 - i] != right[-1 - i]), most - start)
    start, end = _whole_words(left, right, start, end)
    return _excerpt(left, start, len(left) - end), _excerpt(right, start, len(right) - end)


def _whole_words(left: str, right: str, start: int, end: int) -> tuple[int, int]:
    """Mark whole words and numbers: `7.00` and `6.40`, not `7.0` and `6.4`."""
    sides = (left[start : len(left) - end], right[start : len(right) - end])
    if any(side and _in_word(side[0]) for side in sides):
        while start and _in_word(left[start - 1]):
            start -= 1
    if any(side and _in_word(side[-1]) for side in sides):
        while end and _in_word(left[-end]):
            end -= 1
    return start, end


def _in_word(char: str) -> bool:
    # What is written without spaces has no words to keep whole.
    return char in "_.-" or (char.isalnum() and char < "\u2e80")


def _excerpt(text: str, start: int, end: int) -> Line:
    skipped = start - _BEFORE
    if skipped > 20:
        lead = f"({skipped:,} characters) …"
        text = lead + text[skipped:]
        start, end = start - skipped + len(lead), end - skipped + len(lead)
    left_out = len(text) - end - _AFTER
    if left_out > 20:
        text = f"{text[: end + _AFTER]}… ({left_out:,} characters)"
    return Line(text, start, end)
