"""Rows of numbers by key, for a million trials: eight bytes of each key stay in memory, and the
rows of large tables go to a temporary file."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Hashable, Iterator
from heapq import merge
from itertools import chain
from struct import Struct
from tempfile import TemporaryFile
from typing import Any

_IN_MEMORY = 1 << 23
"""Bytes above which rows go to a file."""
_BLOCK = 1 << 18
"""Bytes that are written and read at once."""
_FIRST_SIZE = 64
_SORTED_AT_ONCE = 1 << 15
"""Rows that are sorted at once: a list of a million numbers would take 40 MB."""


def mark_of(key: Hashable) -> int:
    """The hash of a key, as eight bytes without a sign."""
    return hash(key) & 0xFFFF_FFFF_FFFF_FFFF


class RowStore:
    """Rows of bytes of one size, by number. Where no file can be written, all stay in memory."""

    def __init__(self, size: int, in_memory: int = _IN_MEMORY) -> None:
        self._size = size
        self._tail = array("B")
        """The last rows; all of them, as long as there is no file."""
        self._most = in_memory
        """Bytes after which the tail is written to the file."""
        self._filed = 0
        """The bytes in the file."""
        self._file: int | None = None

    def append(self, row: bytes) -> None:
        self._tail.frombytes(row)
        if len(self._tail) >= self._most:
            self._flush()

    def read(self, number: int) -> bytes:
        at = number * self._size - self._filed
        if at >= 0:
            return self._tail[at : at + self._size].tobytes()
        return self._read(self._size, at + self._filed)

    def write(self, number: int, row: bytes) -> None:
        """Replace a row."""
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
        """All rows in order, many at once."""
        step = max(_BLOCK // self._size, 1) * self._size
        for at in range(0, self._filed, step):
            yield self._read(min(step, self._filed - at), at)
        if self._tail:
            yield self._tail.tobytes()

    def _flush(self) -> None:
        try:
            if self._file is None:
                self._file = _open_temporary()
            self._write(self._tail.tobytes(), self._filed)
        except OSError:
            self._take_back()
            return
        self._filed += len(self._tail)
        self._tail = array("B")
        self._most = _BLOCK

    def _read(self, count: int, at: int) -> bytes:
        assert self._file is not None
        return os.pread(self._file, count, at)

    def _write(self, rows: bytes, at: int) -> None:
        assert self._file is not None
        if os.pwrite(self._file, rows, at) != len(rows):
            raise OSError("the disk is full")

    def _take_back(self) -> None:
        """Hold all rows in memory from now on."""
        self._most = 1 << 62
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


def _open_temporary() -> int:
    if not hasattr(os, "pread"):
        raise OSError("this system can't read at a position")  # Windows
    with TemporaryFile() as file:
        return os.dup(file.fileno())


class Table:
    """Rows by mark, in the order in which the marks first came. A row with a known mark replaces
    the earlier one. A slot of the hash table has the number of a row, from 1; 0 if it is free."""

    def __init__(self, types: str) -> None:
        """`types` has a character of `struct` for each column."""
        self._types = types
        self._marks = array("Q")
        self._row = Struct(f"<{types}")
        self._rows = RowStore(self._row.size)
        self._slots = array("I", bytes(4 * _FIRST_SIZE))

    def add(self, mark: int, *numbers: float) -> None:
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        packed = self._row.pack(*numbers)
        if row:
            self._rows.write(row - 1, packed)
            return
        self._rows.append(packed)
        marks.append(mark)
        slots[slot] = row = len(marks)
        if 2 * row > last:
            self._grow()

    def find(self, mark: int) -> tuple[Any, ...] | None:
        """The numbers of a mark."""
        row = self._number_of(mark)
        return None if row < 0 else self._row.unpack(self._rows.read(row))

    def put(self, mark: int, column: int, number: float) -> None:
        """Change one number of a known mark."""
        row = self._number_of(mark)
        numbers = list(self._row.unpack(self._rows.read(row)))
        numbers[column] = number
        self._rows.write(row, self._row.pack(*numbers))

    def __contains__(self, mark: int) -> bool:
        return self._number_of(mark) >= 0

    def __len__(self) -> int:
        return len(self._marks)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """All rows, each with its mark before its numbers."""
        for mark, numbers in zip(self._marks, self._unpacked(), strict=True):
            yield mark, *numbers

    def in_order_of(self, *columns: int) -> Iterator[tuple[Any, ...]]:
        """All rows, sorted by the numbers of some columns."""
        held = [array(self._types[column]) for column in columns]
        for row in self._unpacked():
            for values, column in zip(held, columns, strict=True):
                values.append(row[column])

        def key(at: int) -> tuple[Any, ...]:
            return tuple([values[at] for values in held])

        for at in _order_numbers(len(self._marks), key):
            yield self._marks[at], *self._row.unpack(self._rows.read(at))

    def _number_of(self, mark: int) -> int:
        """The number of the row of a mark, from 0; -1 if there is none."""
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        return row - 1

    def _unpacked(self) -> Iterator[tuple[Any, ...]]:
        return chain.from_iterable(map(self._row.iter_unpack, self._rows.blocks()))

    def _grow(self) -> None:
        slots = self._slots = array("I", (0,)) * (4 * len(self._slots))
        last = len(slots) - 1
        for row, mark in enumerate(self._marks, 1):
            slot = mark & last
            while slots[slot]:
                slot = (slot + 1) & last
            slots[slot] = row


def _order_numbers(count: int, key: Callable[[int], Any]) -> Iterator[int]:
    """The numbers below a count, by their keys: sorted in parts, which are then merged."""
    starts = range(0, count, _SORTED_AT_ONCE)
    parts = [
        array("I", sorted(range(at, min(at + _SORTED_AT_ONCE, count)), key=key)) for at in starts
    ]
    return merge(*parts, key=key)
