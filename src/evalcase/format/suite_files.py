"""The files that suites name: texts and tables for variables, and JSON Schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from evalcase.format.csv import stream_table
from evalcase.format.document import parse_document, read_lines
from evalcase.format.findings import Findings, TableRow
from evalcase.format.source import tell_undecodable
from evalcase.types.options import Check, Place
from evalcase.types.problem import Finding, Problem, Unfit
from evalcase.util.files import OversizeError, open_file, read_file
from evalcase.util.project import Attachments, attachments_in, show_beside
from evalcase.util.text import write_count

LARGEST_TEXT = 10_000_000
LARGEST_TABLE = 1 << 30

OnFile = Callable[[str], None]
"""Is called with the path of a file before it is read."""


def ignore_file(path: str) -> None:
    pass


class SuiteFiles:
    """Reads the files that the suites in one folder name. The problems in a file are reported
    once."""

    def __init__(self, folder: str, on_file: OnFile = ignore_file) -> None:
        self._folder = folder
        self._on_file = on_file
        self.problems: list[Problem] = []
        """What is wrong in tables, at its place there."""
        self._texts: dict[str, str | Unfit] = {}
        self._tables: dict[str, bool] = {}
        """The tables that were read to their end, and whether they have errors."""
        self._schemas: dict[tuple[str, Check], int] = {}
        """How many problems there are in each schema."""

    @cached_property
    def _attachments(self) -> Attachments:
        return attachments_in(self._folder)

    def text_of(self, name: str) -> str | Unfit:
        """The text in a file, without a byte order mark."""
        if name not in self._texts:
            path = self._find(name)
            self._texts[name] = (
                path if isinstance(path, Unfit) else self._read(path, name, LARGEST_TEXT)
            )
        return self._texts[name]

    def rows_of(self, name: str) -> Iterable[TableRow] | Unfit:
        """The rows of a table, read as they are asked for."""
        path = self._find(name)
        if isinstance(path, Unfit):
            return path
        if name.lower().endswith(".jsonl"):
            return self._rows_of_jsonl(path, self._show(path))
        text = self._read(path, name, LARGEST_TABLE)
        return text if isinstance(text, Unfit) else self._rows_of_csv(text, self._show(path))

    def has_errors_in(self, name: str) -> bool:
        """Whether a table that was read to its end has rows with errors, which were left out."""
        path = self._attachments.find(name)
        return isinstance(path, str) and self._tables.get(self._show(path), False)

    def check(self, findings: Findings) -> list[Problem]:
        """Look for all files that were found, and into JSON Schemas. Return the problems in these;
        they count as errors of each case that names the schema."""
        findings.check_files(self._attachments)
        problems: list[Problem] = []
        for path, holds in findings.held:
            if (path, holds) not in self._schemas:
                found = _check_schema(path, self._show(path), holds)
                self._schemas[path, holds] = len(found)
                problems += found
            findings.errors += self._schemas[path, holds]
        return problems

    def _show(self, path: str) -> str:
        return show_beside(path, self._folder)

    def _find(self, name: str) -> str | Unfit:
        path = self._attachments.find(name)
        if isinstance(path, str):
            self._on_file(self._show(path))
        return path

    def _read(self, path: str, name: str, most_bytes: int) -> str | Unfit:
        text = _read_text(path, name, most_bytes, self._attachments.root)
        if isinstance(text, Problem):
            return Unfit(text.code, f"`{name}`: {text.message}", text.hint)
        return text.removeprefix("\ufeff")

    def _rows_of_jsonl(self, path: str, shown: str) -> Iterator[TableRow]:
        problems: list[Problem] = []
        try:
            with open_file(path, self._attachments.root) as file:
                for line in read_lines(file, shown):
                    if isinstance(line, Problem):
                        problems.append(line)
                        continue
                    if type(line.value) is dict and not line.faults:
                        yield TableRow(line.value, f"{shown}:{line.first_line}")
                        continue
                    problems += line.problems
                    if type(line.value) is not dict:
                        message = "a row is a mapping of names to values"
                        problems += line.place([Finding("wrong-type", (), message)])
        except OSError as error:
            message = f"the file can't be read: {error.strerror or error}"
            problems.append(Problem("unreadable-file", message, shown))
        self._report_table(shown, problems)

    def _rows_of_csv(self, text: str, shown: str) -> Iterator[TableRow]:
        """An empty cell is an empty text."""
        rows = stream_table(text, shown)
        header = next(rows)
        problems = [*header.problems]
        for row in rows:
            if row.faults:
                problems += row.problems
            elif row.width < header.width:
                cells = f"{write_count(row.width, 'cell')}, and there are {header.width} columns"
                hint = "an empty cell has its comma, too"
                problems += row.place([Finding("syntax", (), f"this row has {cells}", hint)])
            else:
                values: dict[str, Any] = dict.fromkeys(header.cells, "")
                values |= {column: cell.text for column, cell in row.cells.items()}
                yield TableRow(values, f"{shown}:{row.first_line}")
        self._report_table(shown, problems)

    def _report_table(self, shown: str, problems: list[Problem]) -> None:
        if shown not in self._tables:
            self._tables[shown] = bool(problems)
            self.problems += problems


def _read_text(path: str, shown: str, most_bytes: int, root: str | None = None) -> str | Problem:
    try:
        data = read_file(path, most_bytes, root)
        return data.decode()
    except OversizeError:
        message = f"the file is larger than {most_bytes // 1_000_000:,} MB"
        return Problem("bad-file", message, shown)
    except UnicodeDecodeError:
        return tell_undecodable(data, shown)
    except OSError as error:
        message = f"the file can't be read: {error.strerror or error}"
        return Problem("unreadable-file", message, shown)


def _check_schema(path: str, shown: str, check: Check) -> list[Problem]:
    text = _read_text(path, shown, LARGEST_TEXT)
    if isinstance(text, Problem):
        return [text]
    document = parse_document(text, "json", shown)
    if not document.readable or document.faults:
        return document.problems
    return document.place(
        Finding(each.code, each.path[1:], each.message, each.hint, each.at)
        for each in check(document.value, Place(("schema",)))
    )
