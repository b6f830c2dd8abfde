"""Files whose content becomes values of variables: texts, and tables whose rows are cases.

They lie in the project, are regular files of a sane size and UTF-8: the rules of files in content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from evalcase.model.finding import Finding, Unfit
from evalcase.model.problem import Problem
from evalcase.read.jsonl import document_of, read_lines
from evalcase.read.source import BOM, tell_undecodable
from evalcase.system.attachments import Attachments, attachments_in, show_beside
from evalcase.system.files import OversizeError, open_file, read_file
from evalcase.text.counted import write_count

if TYPE_CHECKING:
    from evalcase.model.table_source import TableRow
    from evalcase.read.csv import CsvRow

OnFile = Callable[[str], None]
"""Is told the path of a file before it is read for the first time."""

LARGEST_TEXT = 10_000_000
LARGEST_TABLE = 1 << 30


class SuiteFiles:
    """The files that the suite in one folder may name. What is wrong inside of them is noted."""

    def __init__(self, folder: str, on_file: OnFile = lambda _: None) -> None:
        self._folder = folder
        self._on_file = on_file
        self._texts: dict[str, str | Unfit] = {}
        self.problems: list[Problem] = []
        """What is wrong in tables, at its place there."""
        self._told: dict[str, bool] = {}
        """The tables that were read, and whether there are errors in them."""
        self._found: Attachments | None = None

    def text_of(self, name: str) -> str | Unfit:
        """The text in a file, without a byte order mark. One that many cases name is read once."""
        known = self._texts.get(name)
        if known is None:
            known = self._texts[name] = self._read_text(name)
        return known

    def rows_of(self, name: str) -> Iterable[TableRow] | Unfit:
        """The rows of a table, read as they are asked for."""
        path = self._attachments.find(name)
        if isinstance(path, Unfit):
            return path
        shown = show_beside(path, self._folder)
        self._on_file(shown)
        if name.lower().endswith(".jsonl"):
            return self._lines(path, shown)
        text = self._read(path, name, LARGEST_TABLE)
        return text if isinstance(text, Unfit) else self._cells(text, shown)

    def has_errors_in(self, name: str) -> bool:
        """Whether rows of a table that was read to its end were left out."""
        path = self._attachments.find(name)
        return isinstance(path, str) and self._told.get(show_beside(path, self._folder), False)

    @property
    def _attachments(self) -> Attachments:
        if self._found is None:
            self._found = attachments_in(self._folder)
        return self._found

    def _read_text(self, name: str) -> str | Unfit:
        path = self._attachments.find(name)
        if isinstance(path, Unfit):
            return path
        self._on_file(show_beside(path, self._folder))
        return self._read(path, name, LARGEST_TEXT)

    def _read(self, path: str, name: str, most_bytes: int) -> str | Unfit:
        try:
            data = read_file(path, most_bytes, self._attachments.root)
            return data.removeprefix(BOM).decode()
        except OversizeError:
            return Unfit("bad-file", f"`{name}` is larger than {most_bytes // 1_000_000:,} MB")
        except UnicodeDecodeError:
            problem = tell_undecodable(data, name)
            return Unfit("bad-encoding", f"`{name}` isn't UTF-8: {problem.message}", problem.hint)
        except OSError as error:
            return Unfit("unreadable-file", f"`{name}` can't be read: {error.strerror or error}")

    def _lines(self, path: str, shown: str) -> Iterator[TableRow]:
        """The objects in a JSONL file, one line in memory at a time."""
        from evalcase.model.table_source import TableRow

        problems: list[Problem] = []
        try:
            with open_file(path, self._attachments.root) as file:
                for line in read_lines(file, shown):
                    if isinstance(line, Problem):
                        problems.append(line)
                        continue
                    number, _, value, faults, _ = line
                    if type(value) is dict and not faults:
                        yield TableRow(value, f"{shown}:{number}")
                        continue
                    document = document_of(line, shown)
                    problems += document.problems
                    if type(value) is not dict:
                        problems += document.place([_NO_ROW])
        except OSError as error:
            message = f"the file can't be read: {error.strerror or error}"
            problems.append(Problem("unreadable-file", message, shown))
        self._tell(shown, problems)

    def _cells(self, text: str, shown: str) -> Iterator[TableRow]:
        """The rows of a CSV file. A cell that is empty is an empty text."""
        from evalcase.model.table_source import TableRow
        from evalcase.read.csv import stream_table

        problems: list[Problem] = []
        rows = stream_table(text, shown)
        header = next(rows)
        problems += header.problems
        empty = dict.fromkeys(header.cells, "")
        for row in rows:
            if row.faults:
                problems += row.problems
            elif row.width < header.width:
                problems += row.place([_find_lacking_cells(row.width, header.width)])
            else:
                yield TableRow({**empty, **_texts_of_row(row)}, f"{shown}:{row.first_line}")
        self._tell(shown, problems)

    def _tell(self, shown: str, problems: list[Problem]) -> None:
        """Each table is told of once, however many cases name it."""
        if shown not in self._told:
            self._told[shown] = bool(problems)
            self.problems += problems


_NO_ROW = Finding("wrong-type", (), "a row is a mapping of names to values")


def _find_lacking_cells(cells: int, columns: int) -> Finding:
    message = f"this row has {write_count(cells, 'cell')}, and there are {columns} columns"
    return Finding("syntax", (), message, "an empty cell has its comma, too")


def _texts_of_row(row: CsvRow) -> dict[str, str]:
    return {name: cell.text for name, cell in row.cells.items()}
