"""Tables of CSV and JSONL, and the other files that suites name: texts and JSON Schemas."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from evalcase.format.document import Document, Findings, parse_document, read_lines
from evalcase.format.positions import NO_CHILDREN, Fault, Node, split_lines
from evalcase.format.source import UnreadableError, read_source, tell_unreadable
from evalcase.types.options import Check, Place
from evalcase.types.problem import Finding, Problem
from evalcase.types.value import JSON
from evalcase.util.files import open_file
from evalcase.util.project import Attachments, attachments_in, show_beside
from evalcase.util.text import write_count

# CSV. The standard library reads it, too, but can't say where a cell stands.

DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*(?:""[^"]*)*"')
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_TWICE = "a quote inside of a quoted cell is written twice"


class _Cell(NamedTuple):
    """A cell: its text, and where it stands in the text of its row."""

    text: str
    start: int
    end: int


def stream_table(text: str, path: str, strict: bool = False) -> Iterator[Document]:
    """The row that names the columns, and then the others, as mappings of column names to texts,
    each made when it is asked for. It never raises for what a text may hold. An empty cell is left
    out; with `strict`, it is an empty text, and a row that is too short is at fault."""
    rows = _split_rows(text)
    source, cells, line, faults = next(rows, ("", [], 1, []))
    names = [cell.text.strip() or f"column {number}" for number, cell in enumerate(cells, 1)]
    header: dict[str, _Cell] = {}
    for name, cell in zip(names, cells, strict=True):
        if name in header:
            message, hint = f"the column `{name}` appears twice", "give it another name"
            faults.append(Fault("duplicate-key", message, cell.start, cell.end, hint))
        header[name] = cell._replace(text=name)
    yield _make_row(path, source, line, faults, header)
    for source, cells, line, faults in rows:
        is_short = strict and not faults and len(cells) < len(names)
        if is_short or len(cells) > len(names):
            has = f"this row has {write_count(len(cells), 'cell')}"
            start = 0 if is_short else cells[len(names)].start
            hint = "a cell with a comma in it must be in quotes"
            hint = "an empty cell has its comma, too" if is_short else hint
            message = f"{has}, and there are {len(names)} columns"
            faults.append(Fault("syntax", message, start, len(source), hint))
        named = zip(names, cells, strict=False)
        found = {name: cell for name, cell in named if strict or cell.text}
        yield _make_row(path, source, line, faults, found)


def _make_row(
    path: str, source: str, line: int, faults: list[Fault], cells: dict[str, _Cell]
) -> Document:
    nodes: dict[str | int, Node] = {
        name: Node(cell.start, cell.end, NO_CHILDREN) for name, cell in cells.items()
    }
    value: JSON = {name: cell.text for name, cell in cells.items()}
    root = Node(0, len(source), nodes)
    return Document(path, source, "csv", value, faults, first_line=line, root=root)


def _split_rows(text: str) -> Iterator[tuple[str, list[_Cell], int, list[Fault]]]:
    """The rows that are not blank: the text of each, its cells, its line and its faults."""
    first_line = split_lines(text[:10_000])[0]
    delimiter = max(DELIMITERS, key=first_line.count)
    plain = re.compile(rf"[^{delimiter}\r\n]*")
    at, line = 0, 1
    while at < len(text):
        start, cells, wrong = at, list[_Cell](), ""
        while True:
            is_quoted = text.startswith('"', at)
            found = (_QUOTED if is_quoted else plain).match(text, at)
            if found is None:
                wrong_at, wrong, at = at - start, "this quote is never closed", len(text)
                break
            content = found[0][1:-1].replace('""', '"') if is_quoted else found[0]
            cells.append(_Cell(content, found.start() - start, found.end() - start))
            at = found.end()
            if not text.startswith(delimiter, at):
                break
            at += 1
        if text[at : at + 1] not in ("", "\r", "\n"):
            wrong_at, wrong = at - start, "there is more after the quote that closes this cell"
            at = _REST_OF_LINE.match(text, at).end()  # type: ignore[union-attr]
        source, faults = text[start:at], list[Fault]()
        if wrong:
            faults.append(Fault("syntax", wrong, wrong_at, wrong_at + 1, _TWICE))
        if source.strip():
            yield source, cells, line, faults
        line += len(split_lines(source))
        at += 2 if text.startswith("\r\n", at) else 1


# Files that suites name

LARGEST_TEXT = 10 << 20
LARGEST_TABLE = 1 << 30

OnFile = Callable[[str], None]
"""Is called with the path of a file before it is read."""


def ignore_file(path: str) -> None:
    pass


class TableRow(NamedTuple):
    """One row of a table: values by the names of their columns."""

    values: dict[str, Any]
    place: str
    """Its file and line: `qa.csv:7`."""


class SuiteFiles:
    """Reads the files that the suites in one folder name. The problems in a file are reported
    once."""

    def __init__(self, folder: str, on_file: OnFile = ignore_file) -> None:
        self._folder = folder
        self._on_file = on_file
        self.problems: list[Problem] = []
        """What is wrong in tables, at its place there."""
        self._texts: dict[str, str | Finding] = {}
        self._tables: set[str] = set()
        """The tables that were read to their end."""
        self._schemas: dict[tuple[str, Check], int] = {}
        """How many problems there are in each schema."""

    @cached_property
    def _attachments(self) -> Attachments:
        return attachments_in(self._folder)

    @property
    def from_root(self) -> str:
        """The folder of the suites, from the root of their project."""
        return os.path.relpath(os.path.realpath(self._folder), self._attachments.root)

    def name_from_root(self, name: str) -> str:
        """A file that is named from the folder of the suites, or from a folder above it."""
        path = self._attachments.find(name)
        if isinstance(path, Finding):
            return os.path.normpath(os.path.join(self.from_root, name))
        return os.path.relpath(path, self._attachments.root)

    def find(self, name: str) -> str | None:
        """The real path of a file or a folder; None if there is none."""
        path = self._attachments.find(name, is_folder=None)
        return path if isinstance(path, str) else None

    def text_of(self, name: str) -> str | Finding:
        """The text in a file, without a byte order mark."""
        if name not in self._texts:
            path = self._find(name)
            self._texts[name] = (
                path if isinstance(path, Finding) else self._read(path, name, LARGEST_TEXT)
            )
        return self._texts[name]

    def rows_of(self, name: str) -> Iterable[TableRow] | Finding:
        """The rows of a table, one by one, without those that have errors."""
        path = self._find(name)
        if isinstance(path, Finding):
            return path
        shown = self._show(path)
        if name.lower().endswith(".jsonl"):
            return self._rows_in(self._read_lines(path, shown), shown)
        text = self._read(path, name, LARGEST_TABLE)
        if isinstance(text, Finding):
            return text
        rows = stream_table(text, shown, strict=True)
        return self._rows_in(chain(next(rows).problems, rows), shown)

    def check(self, findings: Findings) -> list[Problem]:
        """Look for all files that cases name, and into JSON Schemas. Return the problems in these;
        they count as errors of each case that names the schema."""
        problems: list[Problem] = []
        for name, at, case, from_root, holds, is_folder in findings.references:
            files = self._attachments
            path = files.find_from_root(name) if from_root else files.find(name, is_folder)
            if isinstance(path, Finding):
                findings.case = case
                findings.add_finding(path._replace(path=at))
            elif holds is not None:
                if (path, holds) not in self._schemas:
                    found = _check_schema(path, self._show(path), holds)
                    self._schemas[path, holds] = len(found)
                    problems += found
                findings.errors += self._schemas[path, holds]
        return problems

    def _show(self, path: str) -> str:
        return show_beside(path, self._folder)

    def _find(self, name: str) -> str | Finding:
        path = self._attachments.find(name)
        if isinstance(path, str):
            self._on_file(self._show(path))
        return path

    def _read(self, path: str, name: str, most_bytes: int) -> str | Finding:
        try:
            return read_source(path, most_bytes, self._attachments.root)
        except UnreadableError as error:
            told = error.problem
            code = "bad-file" if told.code == "too-large" else told.code
            return Finding((), f"`{name}`: {told.message}", told.hint, code=code)

    def _read_lines(self, path: str, shown: str) -> Iterator[Document | Problem]:
        try:
            with open_file(path, self._attachments.root) as file:
                yield from read_lines(file, shown)
        except OSError as error:
            yield tell_unreadable(shown, error)

    def _rows_in(self, lines: Iterable[Document | Problem], shown: str) -> Iterator[TableRow]:
        problems: list[Problem] = []
        for line in lines:
            if isinstance(line, Problem):
                problems.append(line)
            elif line.faults:
                problems += line.problems
            elif type(line.value) is not dict:
                message = "a row is a mapping of names to values"
                problems += line.place([Finding((), message, code="wrong-type")])
            else:
                yield TableRow(line.value, f"{shown}:{line.first_line}")
        if shown not in self._tables:
            self._tables.add(shown)
            self.problems += problems


def _check_schema(path: str, shown: str, check: Check) -> list[Problem]:
    try:
        document = parse_document(read_source(path, LARGEST_TEXT, shown=shown), "json", shown)
    except UnreadableError as error:
        return [error.problem]
    if not document.is_sound:
        return document.problems
    return document.place(
        each._replace(path=each.path[1:], fix=None)
        for each in check(document.value, Place(("schema",)))
    )
