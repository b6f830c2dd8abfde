"""The cases of a run, as its journal has them: a record stands alone when its suites are gone."""

from __future__ import annotations

from io import BufferedReader
from typing import Any

from evalcase.model.case import Case
from evalcase.record.lines import Lines, damaged, open_lines, read_line_at
from evalcase.record.row import decode_row
from evalcase.record.table import Table, mark_of

CASE = b'{"type":"case",'
_TYPES: dict[str, type | tuple[type, ...]] = {
    "id": str, "description": str, "tags": list, "metadata": dict, "skip": (str, bool),
    "conversation_id": str, "criteria": str, "rubrics": list, "graders": list, "targets": list,
    "repeat": dict, "threshold": (int, float), "timeout_s": (int, float),
}  # fmt: skip


def case_row(suite: str, case: Case) -> dict[str, Any]:
    """The row of a case: whole, in its canonical form."""
    return {"type": "case", "suite": suite, "case": case.id, "data": case.data}


class CaseShelf:
    """Finds cases by suite and id, and holds none of them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._places = Table("Q")
        self._file: BufferedReader | None = None
        lines, at = Lines(path), 0
        for line in lines:
            begins, at = at, lines.size
            if line.startswith(CASE):
                row = self._checked(decode_row(line), lines.count)
                self._places.add(mark_of((row["suite"], row["case"])), begins)

    def find(self, suite: str, case: str) -> Case | None:
        """The case as it was when it was last graded; None if the journal hasn't got it."""
        found = self._places.find(mark_of((suite, case)))
        if found is None:
            return None
        if self._file is None:
            self._file = open_lines(self._path)
        return Case(read_line_at(self._path, self._file, found[0])["data"])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> CaseShelf:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _checked(self, row: dict[str, Any], line: int) -> dict[str, Any]:
        data = row.get("data")
        named = isinstance(row.get("suite"), str) and isinstance(row.get("case"), str)
        if not named or not isinstance(data, dict) or not _is_case(data):
            raise damaged(self._path, line, "is no case")
        return row


def _is_case(data: dict[str, Any]) -> bool:
    fits = all(isinstance(data[name], kind) for name, kind in _TYPES.items() if name in data)
    return (
        fits and "id" in data
        and _are_messages(data.get("input"))
        and _are_messages(data.get("expected_output", []))
        and all(isinstance(each, dict) for each in data.get("rubrics", ()))
        and all(isinstance(each, dict) for each in data.get("graders", ()))
    )  # fmt: skip


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and isinstance(each.get("role"), str) for each in value
    )
