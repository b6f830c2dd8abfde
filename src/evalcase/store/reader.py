"""The lines of a journal, verified one by one. A line that a crash left half written at the end is
told apart from damage."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator
from io import BufferedReader
from typing import NamedTuple

from evalcase.errors import RecordError
from evalcase.store.rows import CaseName, CaseRow, End, Row, decode_case_name, decode_row
from evalcase.types.case import Case
from evalcase.types.result import Outcome, Regraded, Result, decide_case_verdict
from evalcase.types.value import replace
from evalcase.util.files import open_file
from evalcase.util.json import MAX_LINE, body_of, fault_in, is_whole

CASE_START = b'{"type":"case",'
"""The start of most rows that don't count."""
HALF_WRITTEN = "the last line of its journal is half written, and is dropped"
_TAIL = 64 * 1024
"""Bytes at the end of a journal in which the End is searched; it has some hundred."""


class Torn(NamedTuple):
    """The start of a line whose writing was cut off. It was never reported as finished."""

    line: int
    """Counted from 1."""
    start: int
    """The byte at which it begins."""


class JournalLines:
    """Iterate once over the whole lines; then `torn` says what follows them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0
        self.start = 0
        """The byte at which the last line begins."""
        self.size = 0
        """The bytes of all lines so far."""
        self.last = b""
        self.torn: Torn | None = None

    def __iter__(self) -> Iterator[bytes]:
        with open_journal_file(self.path) as file:
            while line := file.readline(MAX_LINE + 1):
                if not is_whole(line):
                    self._stop_at(line)
                    return
                self.start = self.size
                self.size += len(line)
                self.count += 1
                self.last = line
                yield line

    def rows(self) -> Iterator[Row | CaseName]:
        """The row of each line; of a case only its name. Raise RecordError for a damaged one."""
        for line in self:
            body = body_of(line)
            try:
                yield decode_case_name(body) if body.startswith(CASE_START) else decode_row(body)
            except ValueError as error:
                what = f"is not a row of a journal: {error}"
                raise damaged_error(self.path, self.count, what) from error

    def _stop_at(self, line: bytes) -> None:
        # A writer that is cut short leaves no line feed. A whole line that is wrong was changed.
        if line.endswith(b"\n") or len(line) > MAX_LINE:
            raise damaged_error(self.path, self.count + 1, fault_in(line) or "")
        self.torn = Torn(self.count + 1, self.size)


def damaged_error(path: str, line: int, fault: str) -> RecordError:
    return RecordError(f"{path}:{line}: the record is damaged: this line {fault}")


def open_journal_file(path: str) -> BufferedReader:
    try:
        return open_file(path, links=False)
    except OSError as error:
        raise RecordError(f"{path} can't be read: {error.strerror or error}") from error


def read_row_at(path: str, file: BufferedReader, at: int) -> Row:
    """The row that begins at a byte of a journal whose lines were verified before."""
    file.seek(at)
    line = file.readline(MAX_LINE + 1)
    if not is_whole(line):
        raise RecordError(f"{path} changed while it was read")
    try:
        return decode_row(body_of(line))
    except ValueError as error:
        raise _damaged_at(path, file, at, f"is not a row of a journal: {error}") from error


def read_case_at(path: str, file: BufferedReader, at: int) -> Case:
    row = read_row_at(path, file, at)
    try:
        if isinstance(row, CaseRow):
            return row.read()
        raise ValueError("it is another row")
    except ValueError as error:
        raise _damaged_at(path, file, at, f"is not a case: {error}") from error


def read_result_at(path: str, file: BufferedReader, answer_at: int, grading_at: int) -> Result:
    """The result whose answer and grading begin at two bytes of a journal."""
    result, again = read_row_at(path, file, answer_at), None
    if grading_at != answer_at:
        again = read_row_at(path, file, grading_at)
    if not isinstance(result, Result) or not isinstance(again, Regraded | None):
        raise RecordError(f"{path} changed while it was read")
    if again is None:
        return result
    return replace(
        result, verdict=again.verdict, grades=again.grades, grading=again.grading,
        grading_hash=again.grading_hash, pass_rate=again.pass_rate, repeats=again.repeats,
    )  # fmt: skip


def _damaged_at(path: str, file: BufferedReader, at: int, fault: str) -> RecordError:
    file.seek(0)
    line, left = 1, at
    while left > 0 and (block := file.read(min(left, 1 << 20))):
        line += block.count(b"\n")
        left -= len(block)
    return damaged_error(path, line, fault)


def read_end(path: str) -> End:
    """How a run ended, if the last row says so. Damage is reported where all rows are read."""
    incomplete = End("incomplete")
    try:
        with open_file(path, links=False) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    except OSError:
        return incomplete  # killed before the first row
    line = tail[tail.rfind(b"\n", 0, -1) + 1 :]
    if not is_whole(line):
        return incomplete if line.endswith(b"\n") or not line else End("incomplete", HALF_WRITTEN)
    try:
        row = decode_row(body_of(line))
    except ValueError:
        return incomplete
    return row if isinstance(row, End) else incomplete


def read_time_taken(path: str) -> float | None:
    """The time of earlier sessions of a run; None if one was killed."""
    is_new = not os.path.exists(path) or not os.path.getsize(path)
    return 0.0 if is_new else read_end(path).duration_s


class GrowingCase(NamedTuple):
    """A case at a target, as far as it has results."""

    case: Case | None
    outcome: Outcome
    results: tuple[Result, ...]


class NewCases(NamedTuple):
    offset: int
    """Where the next look begins."""
    cases: tuple[GrowingCase, ...]


class GrowingJournal:
    """The journal of a run in progress, for a page that shows it: each line is read once."""

    _MOST_ROWS = 500

    def __init__(self, path: str) -> None:
        self._path = path
        self._size = 0
        self._begins: list[int] = []
        self._names: list[tuple[str, str, str]] = []
        """Of each result: the byte at which it begins, its case and target."""
        self._places: dict[tuple[str, str, str], list[int]] = {}
        self._cases: dict[tuple[str, str], int] = {}

    def reach(self) -> int:
        """The bytes of all whole lines."""
        self._catch_up()
        return self._size

    def read_since(self, offset: int) -> NewCases:
        """The cases with results that begin there or later, some hundred at once."""
        self._catch_up()
        first = bisect_left(self._begins, offset)
        last = min(len(self._begins), first + self._MOST_ROWS)
        names = dict.fromkeys(self._names[first:last])
        reached = self._begins[last] if last < len(self._begins) else max(offset, self._size)
        with open_journal_file(self._path) as file:
            return NewCases(reached, tuple(self._read(name, file) for name in names))

    def _catch_up(self) -> None:
        with open_journal_file(self._path) as file:
            file.seek(self._size)
            # The last line may be half written. Damage is reported where all rows are read.
            while (line := file.readline(MAX_LINE + 1)) and is_whole(line):
                try:
                    row = decode_row(body_of(line))
                except ValueError as error:
                    raise RecordError(f"{self._path} is damaged: {error}") from error
                if isinstance(row, CaseRow):
                    self._cases[row.suite, row.case] = self._size
                elif isinstance(row, Result):
                    name = row.key[:3]
                    self._begins.append(self._size)
                    self._names.append(name)
                    self._places.setdefault(name, []).append(self._size)
                self._size += len(line)

    def _read(self, name: tuple[str, str, str], file: BufferedReader) -> GrowingCase:
        by_repeat: dict[int, Result] = {}
        for at in self._places[name]:
            result = read_result_at(self._path, file, at, at)
            by_repeat[result.key.repeat] = result
        results = tuple(by_repeat[repeat] for repeat in sorted(by_repeat))
        at_case = self._cases.get(name[:2])
        case = None if at_case is None else read_case_at(self._path, file, at_case)
        verdicts, last = [each.verdict for each in results], results[-1]
        trials, repeats = len(results), max(last.repeats, len(results))
        verdict = decide_case_verdict(verdicts, last.pass_rate) if trials >= repeats else None
        outcome = Outcome(verdict, verdicts.count("passed"), trials, repeats, last.pass_rate)
        return GrowingCase(case, outcome, results)
