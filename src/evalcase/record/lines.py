"""The whole lines of a journal, each verified; what a crash left half written at its end is
told apart from damage."""

from __future__ import annotations

import os
from binascii import hexlify
from collections.abc import Iterator
from hashlib import sha256
from io import BufferedReader, BytesIO
from itertools import chain
from typing import Any

from evalcase.errors import RecordError
from evalcase.model.quick_tuple import NamedTuple
from evalcase.system.packed import ENDING, open_stored, packing_of
from evalcase.text.journal_row import MAX_LINE, TAIL, decode_row, fault_in
from evalcase.text.late_pattern import late_pattern

_BODY, _TAIL, _HALF = slice(-TAIL), slice(-TAIL, None), slice(8)
"""Made once: there are two lines for each of a million cases."""
_BLOCK = 1 << 16
"""Bytes that are read at once; a line may have many times that."""
_MOST = MAX_LINE + 1
"""Bytes of a line that are read: by the last of them it is known to be too long."""
_TYPED = late_pattern(rb'\{"type":"[^"\\]+"(?:,|\Z)')
"""How every row begins, so that readers can tell by its first bytes what it is: in one that begins
otherwise, each would overlook something else."""
_USUAL = frozenset({b'{"type":"case"', b'{"type":"result"', b'{"type":"regraded"'})


class Torn(NamedTuple):
    """The rest of a line whose writing was cut off. It was never reported as finished."""

    line: int
    """Counted from 1."""
    start: int
    """The byte at which it begins, and to which the journal can be cut."""
    size: int


class JournalLines:
    """Iterate once over the whole lines; then `torn` says what follows them, if anything."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0
        self.size = 0
        """Bytes of the lines seen so far."""
        self.end = 0
        """Bytes of the file that hold them: fewer, where it is packed."""
        self.last = b""
        self.torn: Torn | None = None

    def __iter__(self) -> Iterator[bytes]:
        for _ in self.bodies():
            yield self.last

    def bodies(self) -> Iterator[bytes]:
        """The same without checksums: all that stands before them."""
        with open_lines(self.path) as file:
            for line in chain.from_iterable(_split_lines(file)):
                body = line[_BODY]
                # Most are whole: that takes one comparison, and others look for the reason.
                if line[_TAIL] != b',"sum":"%b"}\n' % hexlify(sha256(body).digest()[_HALF]):
                    self._stop_at(line, is_packed=packing_of(file) is not None)
                    return
                self.count += 1
                if body[: body.find(b",")] not in _USUAL and _TYPED.match(body) is None:
                    raise damaged_error(self.path, self.count, "does not begin with its type")
                self.size += len(line)
                self.last = line
                yield body
            self._conclude(file)

    def _stop_at(self, line: bytes, *, is_packed: bool) -> None:
        """A writer that is cut short leaves no line feed; a whole line that is wrong was changed by
        somebody, also if it is the last."""
        fault = fault_in(line)
        if len(line) > MAX_LINE or line.endswith(b"\n") or is_packed:
            raise damaged_error(self.path, self.count + 1, fault or "is not a line")
        self.end, self.torn = self.size, Torn(self.count + 1, self.size, len(line))

    def _conclude(self, file: BufferedReader) -> None:
        packed = packing_of(file)
        self.end = self.size if packed is None else packed.end
        if packed is not None and packed.rest is not None:
            self.torn = Torn(self.count + 1, *packed.rest)


def _split_lines(file: BufferedReader) -> Iterator[list[bytes]]:
    """All lines, many at once: to read each by itself takes as long as to look at it. The last may
    have no line feed; one that is longer than a line may be is cut, and is the last."""
    pieces: list[bytes] = []
    length = 0
    while block := file.read(_BLOCK):
        pieces.append(block)
        length += len(block)
        if b"\n" in block or length > _MOST:
            lines = BytesIO(b"".join(pieces)).readlines()
            if len(lines[0]) > _MOST:
                yield [lines[0][:_MOST]]
                return
            last = b"" if lines[-1].endswith(b"\n") else lines.pop()
            yield lines
            pieces, length = [last], len(last)
    if length:
        yield [b"".join(pieces)]


def read_rows(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every whole row with the number of its line. A torn last line is left out."""
    lines = JournalLines(path)
    for line in lines:
        try:
            row = decode_row(line)
        except ValueError as error:
            raise damaged_error(path, lines.count, f"is not a row of a journal: {error}") from error
        yield lines.count, row


def damaged_error(path: str, line: int, fault: str) -> RecordError:
    return RecordError(f"{path}:{line}: the record is damaged: this line {fault}")


def read_line_at(path: str, file: BufferedReader, at: int) -> dict[str, Any]:
    """The row that begins at a place of a journal that was gone through before."""
    file.seek(at)
    line = file.readline(MAX_LINE + 1)
    if fault_in(line) is not None:
        raise RecordError(f"{path} changed while it was read")
    return decode_row(line)


def open_lines(path: str) -> BufferedReader:
    """Open a journal for reading, be it packed or not. It may be packed any moment."""
    try:
        return open_stored(path, links=False)
    except FileNotFoundError as error:
        if not path.endswith(ENDING) and os.path.exists(path + ENDING):
            return open_lines(path + ENDING)
        raise RecordError(f"{path} can't be read: {error.strerror or error}") from error
    except OSError as error:
        raise RecordError(f"{path} can't be read: {error.strerror or error}") from error


def line_number(file: BufferedReader, at: int) -> int:
    """The number of the line that begins at a place, for a message only."""
    file.seek(0)
    count, left = 1, at
    while left > 0 and (block := file.read(min(left, 1 << 20))):
        count += block.count(b"\n")
        left -= len(block)
    return count
