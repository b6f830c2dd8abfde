"""Rows of bytes, all of one size: a few in memory, many in a temporary file that nobody sees."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator

_IN_MEMORY = 1 << 22
"""Bytes above which rows go to a file."""
_BLOCK = 1 << 18
"""Bytes that are written at once, and read at once by who wants all."""


class RowStore:
    """Rows by number, from 0. Where no file can be made or written, all of them stay in memory."""

    def __init__(self, size: int, in_memory: int = _IN_MEMORY) -> None:
        self._size = size
        self._in_memory = in_memory
        self._tail = array("B")
        """The last of them; all, as long as there is no file."""
        self._file: int | None = None
        """Its descriptor."""
        self._filed = 0
        """How many bytes the file has."""

    @property
    def in_memory_bytes(self) -> int:
        return len(self._tail)

    def append(self, row: bytes) -> None:
        self._tail.frombytes(row)
        if len(self._tail) >= self._in_memory:
            self._flush()

    def __getitem__(self, number: int) -> bytes:
        at = number * self._size
        if at >= self._filed:
            at -= self._filed
            return self._tail[at : at + self._size].tobytes()
        return self._read(self._size, at)

    def __setitem__(self, number: int, row: bytes) -> None:
        at = number * self._size
        if at < self._filed:
            try:
                self._write(row, at)
                return
            except OSError:
                self._take_back()
        at -= self._filed
        self._tail[at : at + self._size] = array("B", row)

    def blocks(self) -> Iterator[bytes]:
        """All rows in their order, many at once."""
        step = max(_BLOCK // self._size, 1) * self._size
        for at in range(0, self._filed, step):
            yield self._read(min(step, self._filed - at), at)
        if self._tail:
            yield self._tail.tobytes()

    def _read(self, count: int, at: int) -> bytes:
        assert self._file is not None
        return os.pread(self._file, count, at)

    def _write(self, rows: bytes, at: int) -> None:
        """Raise OSError if not all of it could be written."""
        assert self._file is not None
        done = os.pwrite(self._file, rows, at)
        if done != len(rows):
            raise OSError("the disk is full")

    def _flush(self) -> None:
        try:
            if self._file is None:
                self._file = _make_file()
            self._write(self._tail.tobytes(), self._filed)
        except OSError:
            self._take_back()
            return
        self._filed += len(self._tail)
        self._tail = array("B")
        self._in_memory = _BLOCK

    def _take_back(self) -> None:
        """Hold all rows in memory from now on."""
        self._in_memory = 1 << 62
        if self._file is not None:
            self._tail = array("B", b"".join(self.blocks()))
        self._close()
        self._filed = 0

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def __del__(self) -> None:
        self._close()


def _make_file() -> int:
    """Raise OSError where none can be had."""
    if not hasattr(os, "pread"):
        raise OSError("rows can't be read where they are")  # as on Windows
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        return os.dup(file.fileno())
