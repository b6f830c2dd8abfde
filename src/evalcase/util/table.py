"""Rows of numbers by key, for a million trials: eight bytes of each key stay in memory, and the
rows of large tables go to a temporary file."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from heapq import merge
from itertools import chain
from struct import Struct
from tempfile import SpooledTemporaryFile
from typing import Any

_IN_MEMORY = 1 << 23
"""Bytes above which rows go to a file."""
_BLOCK = 1 << 18
"""Bytes that are read at once."""
_FIRST_SIZE = 64
_SORTED_AT_ONCE = 1 << 15
"""Rows that are sorted at once: a list of a million numbers would take 40 MB."""


def mark_of(key: Hashable) -> int:
    """The hash of a key, as eight bytes without a sign."""
    return hash(key) & 0xFFFF_FFFF_FFFF_FFFF


class RowStore:
    """Rows of bytes of one size, by number: in memory, and in a temporary file once they are
    many."""

    def __init__(self, size: int, in_memory: int = _IN_MEMORY) -> None:
        self._size = size
        self._file = SpooledTemporaryFile(in_memory)  # noqa: SIM115 - it lives as long as the rows
        self._bytes = 0

    def append(self, row: bytes) -> None:
        self._file.seek(self._bytes)
        self._file.write(row)
        self._bytes += self._size

    def read(self, number: int) -> bytes:
        self._file.seek(number * self._size)
        return self._file.read(self._size)

    def write(self, number: int, row: bytes) -> None:
        self._file.seek(number * self._size)
        self._file.write(row)

    def blocks(self) -> Iterator[bytes]:
        step = max(_BLOCK // self._size, 1) * self._size
        for at in range(0, self._bytes, step):
            self._file.seek(at)
            yield self._file.read(step)

    def __del__(self) -> None:
        self._file.close()


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
        slot, packed = self._find_slot(mark), self._row.pack(*numbers)
        row = self._slots[slot]
        if row:
            self._rows.write(row - 1, packed)
            return
        self._rows.append(packed)
        self._marks.append(mark)
        count = self._slots[slot] = len(self._marks)
        if 2 * count >= len(self._slots):
            self._slots = array("I", (0,)) * (4 * len(self._slots))
            for number, each in enumerate(self._marks, 1):
                self._slots[self._find_slot(each)] = number

    def find(self, mark: int) -> tuple[Any, ...] | None:
        row = self._slots[self._find_slot(mark)]
        return self._row.unpack(self._rows.read(row - 1)) if row else None

    def __contains__(self, mark: int) -> bool:
        return self._slots[self._find_slot(mark)] > 0

    def __len__(self) -> int:
        return len(self._marks)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """All rows, each with its mark before its numbers."""
        for mark, numbers in zip(self._marks, self._unpacked(), strict=True):
            yield mark, *numbers

    def in_order_of(self, *columns: int) -> Iterator[tuple[Any, ...]]:
        held = [array(self._types[column]) for column in columns]
        for row in self._unpacked():
            for values, column in zip(held, columns, strict=True):
                values.append(row[column])

        def key(at: int) -> tuple[Any, ...]:
            return tuple([values[at] for values in held])

        rows = range(len(self._marks))
        starts = rows[::_SORTED_AT_ONCE]
        parts = [array("I", sorted(rows[at : at + _SORTED_AT_ONCE], key=key)) for at in starts]
        for at in merge(*parts, key=key):
            yield self._marks[at], *self._row.unpack(self._rows.read(at))

    def _find_slot(self, mark: int) -> int:
        """The slot of a mark, or the free one where it belongs."""
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        return slot

    def _unpacked(self) -> Iterator[tuple[Any, ...]]:
        return chain.from_iterable(map(self._row.iter_unpack, self._rows.blocks()))
