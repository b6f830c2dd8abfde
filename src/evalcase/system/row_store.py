"""Rows of bytes, all of one size: a few in memory, many in a temporary file that nobody sees."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator

_IN_MEMORY = 1 << 23
"""Bytes above which rows go to a file."""
_BLOCK = 1 << 18
"""Bytes that are written at once, and read at once by who wants all."""


class RowStore:
    """Rows by number, from 0. Where no file can be made or written, all of them stay in memory.

    A table reads and adds to `tail` itself, as `append` and `read` do: to call them would take
    longer than what they do.
    """

    def __init__(self, size: int, in_memory: int = _IN_MEMORY) -> None:
        self._size = size
        self.tail = array("B")
        """The last of them; all, as long as there is no file."""
        self.most = in_memory
        """Bytes of it that are written to the file."""
        self.filed = 0
        """How many bytes the file has."""
        self._file: int | None = None
        """Its descriptor."""

    def append(self, row: bytes) -> None:
        self.tail.frombytes(row)
        if len(self.tail) >= self.most:
            self.flush()

    def read(self, number: int) -> bytes:
        at = number * self._size - self.filed
        if at >= 0:
            return self.tail[at : at + self._size].tobytes()
        return self._read(self._size, at + self.filed)

    def write(self, number: int, row: bytes) -> None:
        """Put a row in the place of another."""
        at = number * self._size
        if at < self.filed:
            try:
                self._write(row, at)
                return
            except OSError:
                self._take_back()
        at -= self.filed
        self.tail[at : at + self._size] = array("B", row)

    def blocks(self) -> Iterator[bytes]:
        """All rows in their order, many at once."""
        step = max(_BLOCK // self._size, 1) * self._size
        for at in range(0, self.filed, step):
            yield self._read(min(step, self.filed - at), at)
        if self.tail:
            yield self.tail.tobytes()

    def flush(self) -> None:
        """Write the tail to the file."""
        try:
            if self._file is None:
                self._file = _make_file()
            self._write(self.tail.tobytes(), self.filed)
        except OSError:
            self._take_back()
            return
        self.filed += len(self.tail)
        self.tail = array("B")
        self.most = _BLOCK

    def _read(self, count: int, at: int) -> bytes:
        assert self._file is not None
        return os.pread(self._file, count, at)

    def _write(self, rows: bytes, at: int) -> None:
        """Raise OSError if not all of it could be written."""
        assert self._file is not None
        if os.pwrite(self._file, rows, at) != len(rows):
            raise OSError("the disk is full")

    def _take_back(self) -> None:
        """Hold all rows in memory from now on."""
        self.most = 1 << 62
        if self._file is not None:
            self.tail = array("B", b"".join(self.blocks()))
        self._close()
        self.filed = 0

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
