"""CSV to documents, one for each row, which know where their cells stand.

The first row has the names of the columns. A cell is text, and an empty one is left out. The
standard library reads CSV too, but can't say where a cell is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evalcase.format.document import Document
from evalcase.format.positions import NO_CHILDREN, Fault, Lines, Node, split_lines
from evalcase.types.problem import Problem
from evalcase.types.value import JSON

DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*(?:""[^"]*)*"')
_TWICE = "a quote inside of a quoted cell is written twice"


class CsvCell(NamedTuple):
    """A cell: its text, and where it stands in the text of its row."""

    text: str
    start: int
    end: int


class CsvRow(Document):
    """A row as a mapping of column names to texts."""

    def __init__(
        self, path: str, source: str, faults: list[Fault], first_line: int,
        cells: dict[str, CsvCell], width: int,
    ) -> None:  # fmt: skip
        """`width` is the number of its cells, with those that are empty."""
        value: JSON = {name: cell.text for name, cell in cells.items()}
        super().__init__(
            path, source, "csv", value, faults, True, first_line, compose=self._compose_cells
        )
        self.cells = cells
        self.width = width

    def _compose_cells(self, text: str) -> Node:
        cells = self.cells.items()
        return Node(
            0, len(text), {name: Node(each.start, each.end, NO_CHILDREN) for name, each in cells}
        )


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
    rows = _split_rows(text)
    source, cells, line, faults = next(rows, ("", [], 1, []))
    names = [cell.text.strip() or f"column {number}" for number, cell in enumerate(cells, 1)]
    columns: dict[str, CsvCell] = {}
    for name, cell in zip(names, cells, strict=True):
        if name in columns:
            span = Lines(source).span(cell.start, cell.end)
            message = f"the column `{name}` appears twice"
            faults.append(Fault("duplicate-key", message, span, "give it another name"))
        columns.setdefault(name, cell._replace(text=name))
    yield CsvRow(path, source, faults, line, columns, len(cells))
    for source, cells, line, faults in rows:
        if len(cells) > len(names):
            span = Lines(source).span(cells[len(names)].start, cells[-1].end)
            message = f"this row has {len(cells)} cells, and there are {len(names)} columns"
            hint = "a cell with a comma in it must be in quotes"
            faults.append(Fault("syntax", message, span, hint))
        named = {name: cell for name, cell in zip(names, cells, strict=False) if cell.text}
        yield CsvRow(path, source, faults, line, named, len(cells))


def _split_rows(text: str) -> Iterator[tuple[str, list[CsvCell], int, list[Fault]]]:
    """The rows that are not blank: the text of each, its cells, its line and its faults."""
    first_line = split_lines(text[:10_000])[0]
    delimiter = max(DELIMITERS, key=first_line.count)
    plain = re.compile(rf"[^{delimiter}\r\n]*")
    at, line = 0, 1
    while at < len(text):
        start, cells, wrong = at, list[CsvCell](), ""
        while True:
            is_quoted = text.startswith('"', at)
            found = (_QUOTED if is_quoted else plain).match(text, at)
            if found is None:
                wrong_at, wrong, at = at - start, "this quote is never closed", len(text)
                break
            content = found[0][1:-1].replace('""', '"') if is_quoted else found[0]
            cells.append(CsvCell(content, found.start() - start, found.end() - start))
            at = found.end()
            if not text.startswith(delimiter, at):
                break
            at += 1
        if text[at : at + 1] not in ("", "\r", "\n"):
            wrong_at, wrong = at - start, "there is more after the quote that closes this cell"
            ends = (text.find("\n", at), text.find("\r", at))
            at = min((end for end in ends if end >= 0), default=len(text))
        source, faults = text[start:at], list[Fault]()
        if wrong:
            span = Lines(source).span(wrong_at, wrong_at + 1)
            faults.append(Fault("syntax", wrong, span, _TWICE))
        if source.strip():
            yield source, cells, line, faults
        line += len(split_lines(source))
        at += 2 if text.startswith("\r\n", at) else 1
