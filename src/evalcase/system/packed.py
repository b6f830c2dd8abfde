"""Lines in a gzip file that can be read from anywhere, and added to.

It is a row of members, as `gunzip` and `zcat` read them, each with whole lines and a checksum of
its own. The head of each says how long it is: so a place is found without reading all before it,
and a last member that is cut off is told apart from a damaged one.
"""

from __future__ import annotations

import os
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from io import SEEK_CUR, SEEK_END, SEEK_SET, BufferedReader, RawIOBase
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from evalcase.errors import RecordError
from evalcase.system.files import open_file

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ENDING = ".gz"
BLOCK = 256 * 1024
"""Bytes after which a member is closed. A line is never divided."""
_LEVEL = 6
_HEAD = Struct("<10sH2sHIIB")
_BEGIN = b"\x1f\x8b\x08\x04".ljust(10, b"\0"), 13, b"EC", 9
"""A member with something extra, which has a name and a length."""
_KEPT = 16
"""Members that are held in memory."""
_MOST = 512 * 1024 * 1024
"""Bytes of a member, which holds what is written at once and no more."""
_ADDED = 1


class Rest(NamedTuple):
    """What follows the last whole member: something that was being added when its writer died."""

    start: int
    size: int


def pack_lines(lines: bytes, *, added: bool = False) -> bytes:
    """Whole lines as one member. `added` to a file that has its name already, it may be found cut
    off."""
    squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = squeeze.compress(lines) + squeeze.flush()
    tail = Struct("<II").pack(zlib.crc32(lines), len(lines))
    size = _HEAD.size + len(body) + len(tail)
    head = _HEAD.pack(*_BEGIN, size, len(lines), _ADDED if added else 0)
    return head + body + tail


def pack_members(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines, one by one, as members."""
    block, size = [], 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= BLOCK:
            yield pack_lines(b"".join(block))
            block, size = [], 0
    if block:
        yield pack_lines(b"".join(block))


def open_stored(path: str, *, links: bool = True) -> BufferedReader:
    """Open a file for reading; one that is packed, by its ending, gives what is in it."""
    file = open_file(path, links=links)
    if not path.endswith(ENDING):
        return file
    try:
        packed = PackedLines(file, path)
        packed.survey()
        return BufferedReader(packed, BLOCK)
    except BaseException:
        file.close()
        raise


def packing_of(file: BufferedReader) -> PackedLines | None:
    """What is behind a file that `open_stored` gave; None if it is not packed."""
    behind: object = file.raw
    return behind if isinstance(behind, PackedLines) else None


class PackedLines(RawIOBase):
    """What is in a packed file, as if it were not."""

    def __init__(self, file: BufferedReader, path: str) -> None:
        self._file = file
        self._path = path
        self._starts = array("Q")
        """Where each member begins in the file, and where what it holds begins."""
        self._begins = array("Q")
        self._at = 0
        self._held: OrderedDict[int, bytes] = OrderedDict()
        self.size = 0
        """Bytes of all that it holds."""
        self.end = 0
        """Bytes of the file that hold it."""
        self.rest: Rest | None = None

    def survey(self) -> None:
        """Find its members, before anything is read. Raise RecordError if it is no such file."""
        size = os.fstat(self._file.fileno()).st_size
        while self.end < size:
            head = self._bytes_at(self.end, _HEAD.size)
            if len(head) < _HEAD.size:
                self.rest = Rest(self.end, size - self.end)
                return
            *begin, length, holds, how = _HEAD.unpack(head)
            if tuple(begin) != _BEGIN:
                raise self._not_ours()
            if length <= _HEAD.size or not 0 < holds <= _MOST or how not in (0, _ADDED):
                raise self._damaged("a head makes no sense")
            if self.end + length > size:
                if how != _ADDED:
                    raise self._damaged(
                        f"{self.end + length - size:,} bytes are missing at its end"
                    )
                self.rest = Rest(self.end, size - self.end)
                return
            self._starts.append(self.end)
            self._begins.append(self.size)
            self.end += length
            self.size += holds

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        base = {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        if self._at >= self.size:
            return 0
        from bisect import bisect_right

        number = bisect_right(self._begins, self._at) - 1
        inside, room = self._at - self._begins[number], memoryview(buffer)
        part = self._member(number)[inside : inside + len(room)]
        room[: len(part)] = part
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
            self._held.clear()
        super().close()

    def _member(self, number: int) -> bytes:
        held = self._held.get(number)
        if held is not None:
            self._held.move_to_end(number)
            return held
        data = self._held[number] = self._unpack(number)
        if len(self._held) > _KEPT:
            self._held.popitem(last=False)
        return data

    def _unpack(self, number: int) -> bytes:
        last = number + 1 == len(self._starts)
        end = self.end if last else self._starts[number + 1]
        holds = (self.size if last else self._begins[number + 1]) - self._begins[number]
        packed = self._bytes_at(self._starts[number], end - self._starts[number])
        try:
            reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
            data = reader.decompress(packed, holds + 1)
            if not reader.eof or reader.unused_data:
                raise zlib.error("it is not as long as its head says")
        except zlib.error as error:
            what = f"the part from byte {self._starts[number]:,} on can't be unpacked: {error}"
            raise self._damaged(what) from None
        if len(data) != holds:
            raise self._damaged(f"the part from byte {self._starts[number]:,} on is too short")
        return data

    def _bytes_at(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)

    def _damaged(self, why: str) -> RecordError:
        return RecordError(f"{self._path}: the record is damaged: {why}")

    def _not_ours(self) -> RecordError:
        if self.end:
            return self._damaged(f"from byte {self.end:,} on it is not what evalcase writes")
        return RecordError(
            f"{self._path} was not compressed by evalcase: `gunzip` it, and it can be read"
        )
