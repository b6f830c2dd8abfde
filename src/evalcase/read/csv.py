"""CSV text to documents, one for each row, which know where their cells stand.

The first row has the names of the columns. A cell is text, and an empty one is nothing at all. The
standard library reads CSV too, but can't say where a cell is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from evalcase.model.finding import At, KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.problem import Problem, Span
from evalcase.read.document import Document
from evalcase.read.fault import Fault
from evalcase.read.lines import Lines, split_lines
from evalcase.read.places import Branch, Leaf, Node

DELIMITERS = (",", ";", "\t")


class CsvCell(NamedTuple):
    """A cell: what it says, and where it stands in the text of its row."""

    text: str
    start: int
    end: int


class CsvRow(Document):
    """A row as a mapping of column names to texts."""

    def __init__(
        self, path: str, source: str, value: JSON, faults: Sequence[Fault], first_line: int,
        cells: dict[str, CsvCell], width: int,
    ) -> None:  # fmt: skip
        super().__init__(path, source, "csv", value, faults, True, first_line)
        self.cells = cells
        self.width = width
        """How many cells it has, with those that are empty."""

    def places(self, wanted: Iterable[tuple[KeyPath, At]] | None = None) -> Node:
        """The places of all cells: there are few."""
        del wanted
        lines = Lines(self.text)
        spans = {name: lines.span(cell.start, cell.end) for name, cell in self.cells.items()}
        children: dict[str | int, tuple[Span, Node]] = {
            name: (span, Leaf(span)) for name, span in spans.items()
        }
        return Branch(lines.span(0, len(self.text)), children)


class CsvTable(NamedTuple):
    """The rows of a CSV file, under a row that names the columns."""

    header: CsvRow
    rows: list[CsvRow]
    problems: list[Problem]


def read_table(text: str, path: str) -> CsvTable:
    """Read all rows. It never raises for what a text may hold."""
    header, *rows = stream_table(text, path)
    problems = [problem for row in (header, *rows) for problem in row.problems]
    return CsvTable(header, rows, problems)


def stream_table(text: str, path: str) -> Iterator[CsvRow]:
    """The row that names the columns, and then the others, each made when it is asked for."""
    raw = _raw_rows(text, _find_delimiter(text))
    first = next(raw, _Raw("", [], 1, None))
    names = _column_names(first.cells)
    yield _make_header(first, names, path)
    for each in raw:
        yield _make_row(each, names, path)


class _Raw(NamedTuple):
    source: str
    cells: list[CsvCell]
    line: int
    fault: Fault | None


def _find_delimiter(text: str) -> str:
    """What stands between the names in the first line."""
    first = split_lines(text[:10_000])[0]
    return max(DELIMITERS, key=first.count)


def _raw_rows(text: str, delimiter: str) -> Iterator[_Raw]:
    """The rows that are not blank, each with its cells."""
    plain = re.compile(rf"[^{delimiter}\r\n]*")
    quoted = re.compile(r'"[^"]*(?:""[^"]*)*"')
    at, line = 0, 1
    while at < len(text):
        start, cells, fault = at, list[CsvCell](), None
        while True:
            is_quoted = text.startswith('"', at)
            found = (quoted if is_quoted else plain).match(text, at)
            if found is None:
                fault = _find_unclosed(text, start, at)
                at = len(text)
                break
            cells.append(_make_cell(found, start, is_quoted))
            at = found.end()
            if not text.startswith(delimiter, at):
                break
            at += 1
        if text[at : at + 1] not in ("", "\r", "\n"):
            fault = _find_trailing(text, start, at)
            at = _end_of_line(text, at)
        source = text[start:at]
        if source.strip():
            yield _Raw(source, cells, line, fault)
        line += len(split_lines(source))
        at += 2 if text.startswith("\r\n", at) else 1


def _make_cell(found: re.Match[str], row_start: int, is_quoted: bool) -> CsvCell:
    text = found.group()
    if is_quoted:
        text = text[1:-1].replace('""', '"')
    return CsvCell(text, found.start() - row_start, found.end() - row_start)


def _find_unclosed(text: str, start: int, at: int) -> Fault:
    span = Lines(text[start:]).span(at - start, at - start + 1)
    hint = "a quote inside of a quoted cell is written twice"
    return Fault("syntax", "this quote is never closed", span, hint)


def _find_trailing(text: str, start: int, at: int) -> Fault:
    span = Lines(text[start:at]).span(at - start, at - start)
    span = span._replace(end_column=span.column + 1)
    hint = "a quote inside of a quoted cell is written twice"
    return Fault("syntax", "there is more after the quote that closes this cell", span, hint)


def _end_of_line(text: str, at: int) -> int:
    ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
    return min(ends, default=len(text))


def _column_names(cells: list[CsvCell]) -> list[str]:
    """The names of the columns; one without a name is called by its number."""
    return [cell.text.strip() or f"column {number}" for number, cell in enumerate(cells, 1)]


def _make_header(raw: _Raw, names: list[str], path: str) -> CsvRow:
    faults = [] if raw.fault is None else [raw.fault]
    cells: dict[str, CsvCell] = {}
    for name, cell in zip(names, raw.cells, strict=True):
        if name in cells:
            message = f"the column `{name}` appears twice"
            span = Lines(raw.source).span(cell.start, cell.end)
            faults.append(Fault("duplicate-key", message, span, "give it another name"))
        cells.setdefault(name, cell)
    value: JSON = {name: name for name in cells}
    return CsvRow(path, raw.source, value, faults, raw.line, cells, len(raw.cells))


def _make_row(raw: _Raw, names: list[str], path: str) -> CsvRow:
    faults = [] if raw.fault is None else [raw.fault]
    if len(raw.cells) > len(names):
        extra = raw.cells[len(names)]
        message = f"this row has {len(raw.cells)} cells, and there are {len(names)} columns"
        span = Lines(raw.source).span(extra.start, raw.cells[-1].end)
        faults.append(Fault("syntax", message, span, "a cell with a comma in it must be in quotes"))
    cells = {name: cell for name, cell in zip(names, raw.cells, strict=False) if cell.text}
    value: JSON = {name: cell.text for name, cell in cells.items()}
    return CsvRow(path, raw.source, value, faults, raw.line, cells, len(raw.cells))
