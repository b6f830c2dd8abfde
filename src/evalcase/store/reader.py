"""The lines of a journal, verified one by one. A line that a crash left half written at the end is
told apart from damage."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BufferedReader
from typing import NamedTuple

from evalcase.errors import RecordError
from evalcase.store.rows import End, Row, decode_row
from evalcase.util.files import open_file
from evalcase.util.json import MAX_LINE, body_of, fault_in, is_whole

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
    """Iterate over the whole lines; then `torn` says what follows them. A second iteration has the
    lines that came since."""

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
        self.torn = None
        with open_journal_file(self.path) as file:
            file.seek(self.size)
            while line := file.readline(MAX_LINE + 1):
                if not is_whole(line):
                    self._stop_at(line)
                    return
                self.start = self.size
                self.size += len(line)
                self.count += 1
                self.last = line
                yield line

    def rows(self) -> Iterator[Row]:
        """The row of each line. Raise RecordError for a damaged one."""
        for line in self:
            try:
                yield decode_row(body_of(line))
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
    try:
        if is_whole(line):
            return decode_row(body_of(line))
    except ValueError:
        pass
    raise changed_error(path)


def changed_error(path: str) -> RecordError:
    return RecordError(f"{path} changed while it was read")


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
