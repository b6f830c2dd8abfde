"""The cases of a run, as its journal has them: a record stands alone when its suites are gone."""

from __future__ import annotations

import json
import re
from io import BufferedReader
from typing import Any

from evalcase.model.case import Case, canonical_case
from evalcase.record.gradings import find_grading
from evalcase.record.lines import JournalLines, damaged_error, line_number, open_lines, read_line_at
from evalcase.system.table import Table, mark_of
from evalcase.text.journal_row import decode_row

CASE_START = b'{"type":"case",'
_TAGS, _VARS = b'"tags"', b'"vars"'
"""In the row of a case with tags or variables; and perhaps of others."""
_END = b'{"type":"end",'
# Plain names only: an escape may stand for what can't be told from its bytes.
_NAME = re.compile(rb'\{"type":"case",("suite":"[^"\\]*","case":"[^"\\]*"),')


def case_row(suite: str, case: Case) -> dict[str, Any]:
    """The row of a case: whole, in its canonical form."""
    return {"type": "case", "suite": suite, "case": case.id, "data": case._data}


def read_case(row: dict[str, Any]) -> Case:
    """The case of a row. Raise ValueError if it is none: the row may come from anyone."""
    from evalcase.model.case_fields import check_case  # who only writes rows needs none of it

    data = row.get("data")
    if not isinstance(data, dict) or data.get("id") != row.get("case"):
        raise ValueError("its data is of another")
    check_case(data)
    return canonical_case(data)


class CaseShelf:
    """Finds cases by suite and id, and holds none of them."""

    def __init__(self, path: str, places: Table) -> None:
        """`places` says for each case at which byte of the journal its row begins, and whether it
        may have tags or variables."""
        self._path = path
        self._places = places
        self._file: BufferedReader | None = None

    def find(self, suite: str, case: str) -> Case | None:
        """The case as it was when it was last graded; None if the journal hasn't got it."""
        found = self._places.find(mark_of((suite, case)))
        if found is None:
            return None
        if self._file is None:
            self._file = open_lines(self._path)
        try:
            return read_case(read_line_at(self._path, self._file, found[0]))
        except ValueError as error:
            line = line_number(self._file, found[0])
            raise damaged_error(self._path, line, f"is not a case: {error}") from error

    def find_tagged(self, suite: str, case: str) -> Case | None:
        """The same, but None if the case has neither tags nor variables."""
        found = self._places.find(mark_of((suite, case)))
        if found is None or not found[1]:
            return None
        known = self.find(suite, case)
        if known is None or not (known._data.get("tags") or known._data.get("vars")):
            return None
        return known

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> CaseShelf:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def shelve_cases(path: str, upto: int | None = None) -> CaseShelf:
    """The cases of a journal; with `upto`, as they were before any later grading."""
    places, lines, at = Table("QB"), JournalLines(path), 0
    replaced: list[tuple[int, int, int]] = []
    """The marks of cases that were written anew in this part of the run, and where they were."""
    for line in lines:
        begins, at = at, lines.size
        if line.startswith(CASE_START):
            mark = mark_of(_read_name(line, path, lines.count))
            if upto is not None and (before := places.find(mark)) is not None:
                replaced.append((mark, *before))
            places.add(mark, begins, _TAGS in line or _VARS in line)
        elif line.startswith(_END):
            replaced.clear()
        elif upto is not None and (begun := find_grading(lines)) and begun.number > upto:
            for earlier in reversed(replaced):
                places.add(*earlier)
            break
    return CaseShelf(path, places)


def _read_name(line: bytes, path: str, number: int) -> tuple[str, str]:
    """Suite and id. They come first, so that the rest of most lines need not be parsed."""
    found = _NAME.match(line)
    try:
        row = json.loads(b"{%b}" % found[1]) if found else decode_row(line)
    except ValueError as error:
        raise damaged_error(path, number, f"is not a case: {error}") from error
    suite, case = row.get("suite"), row.get("case")
    if not isinstance(suite, str) or not isinstance(case, str):
        raise damaged_error(path, number, "is not a case")
    return suite, case
