"""The whole lines of a journal, each verified; what a crash left half written at its end is
told apart from damage."""

from __future__ import annotations

import os
import re
from binascii import hexlify
from collections.abc import Iterator
from hashlib import sha256
from io import BufferedReader, BytesIO
from itertools import accumulate, count
from typing import Any, NamedTuple, TypeAlias

from evalcase.errors import RecordError
from evalcase.system.packed import ENDING, open_stored, packing_of
from evalcase.text.journal_row import END, MAX_LINE, SUM, TAIL, decode_row, fault_in

_BYTES = 8
"""So much of a digest is kept."""
_BODY, _TAIL, _HALF = slice(-TAIL), slice(-TAIL, None), slice(_BYTES)
"""Made once: there are two lines for each of a million cases."""
_BLOCK = 1 << 16
"""Bytes that are read at once; a line may have many times that."""
_MOST = MAX_LINE + 1
"""Bytes of a line that are read: by the last of them it is known to be too long."""
_TYPED = re.compile(rb'\{"type":"[^"\\]+"(?:,|\Z)')
"""How every row begins, so that readers can tell by its first bytes what it is: in one that begins
otherwise, each would overlook something else."""
_USUAL = (b'{"type":"result",', b'{"type":"case",', b'{"type":"regraded",')


JournalLine: TypeAlias = tuple[bytes, int, int]
"""All of a line that stands before its checksum, the byte at which it begins, and its number,
counted from 1."""


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
        for lines, bodies in self._blocks():
            for line, body in zip(lines, bodies, strict=True):
                self._go_past(len(line), 1, line)
                if not body.startswith(_USUAL):
                    self._check_type(body, self.count)
                yield line

    def rows(self, but: bytes) -> Iterator[list[JournalLine]]:
        """The same without checksums, many at once. Those whose type is `but`, the first bytes of a
        row, are verified and not given."""
        for lines, bodies in self._blocks():
            begins = accumulate(map(len, lines), initial=self.size)
            numbered = zip(bodies, begins, count(self.count + 1), strict=False)
            rows = [row for row in numbered if not row[0].startswith(but)]
            for body, _, number in rows:
                if not body.startswith(_USUAL):
                    self._check_type(body, number)
            self._go_past(sum(map(len, lines)), len(lines), lines[-1])
            yield rows

    def _blocks(self) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Lines that are whole, many at once, and all of each that stands before its checksum."""
        with open_lines(self.path) as file:
            for lines in _split_lines(file):
                bodies = [line[_BODY] for line in lines]
                if not _are_whole(lines, bodies):
                    whole = _count_whole(lines, bodies)
                    if whole:
                        yield lines[:whole], bodies[:whole]
                    self._stop_at(lines[whole], is_packed=packing_of(file) is not None)
                    return
                if lines:
                    yield lines, bodies
            self._conclude(file)

    def _go_past(self, size: int, count: int, last: bytes) -> None:
        self.size += size
        self.count += count
        self.last = last

    def _check_type(self, body: bytes, number: int) -> None:
        if _TYPED.match(body) is None:
            raise damaged_error(self.path, number, "does not begin with its type")

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


def _are_whole(lines: list[bytes], bodies: list[bytes]) -> bool:
    """Whether each of some lines ends in the checksum of its body. It takes one comparison for all:
    to make and to compare each by itself takes as long again as the checksums."""
    digests = b"".join([sha256(body).digest()[_HALF] for body in bodies])
    between = hexlify(digests, b"|", _BYTES).replace(b"|", END + SUM)
    # Each of the ends has the same length; were one too short, all of them together would be.
    return b"".join([line[_TAIL] for line in lines]) == b"".join((SUM, between, END))


def _count_whole(lines: list[bytes], bodies: list[bytes]) -> int:
    """How many of some lines, of which one is not whole, come before that."""
    pairs = zip(lines, bodies, strict=True)
    return next(at for at, (line, body) in enumerate(pairs) if not _are_whole([line], [body]))


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
