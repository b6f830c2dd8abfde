"""A table of trials: a mark of eight bytes for each in memory, and some numbers beside it, of many
trials in a temporary file.

Resume asks of a million trials whether each is finished, and a dict of a million keys would take
more memory than all the rest of a run.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from heapq import merge
from itertools import chain
from struct import Struct, calcsize
from typing import Any

from evalcase.system.row_store import RowStore

MARK_BITS = 0xFFFF_FFFF_FFFF_FFFF
_FIRST_SIZE = 64
_SORTED_AT_ONCE = 1 << 15
"""Rows whose order is found at once: a list of a million numbers would take 40 MB."""


def mark_of(key: Hashable) -> int:
    """A number that stands for a key: two keys share one about as often as never."""
    return hash(key) & MARK_BITS


class Table:
    """Rows of numbers by mark, in the order in which marks first came.

    A row whose mark is known takes the place of the earlier one. Rows are found by hashing: a
    slot has the number of a row, counted from 1, and 0 where it is free.
    """

    def __init__(self, types: str) -> None:
        """`types` are those of `struct`, one for each column."""
        self._types = types
        self._marks = array("Q")
        self._row = Struct(f"<{types}")
        self.pack = self._row.pack
        self._rows = RowStore(self._row.size)
        """Everything but the marks: to write a row at once takes a fraction of the time that as
        many columns would take."""
        self._slots = array("I", bytes(4 * _FIRST_SIZE))

    def add(self, mark: int, *numbers: float) -> None:
        """Take in a row."""
        self.add_packed(mark, self.pack(*numbers))

    def add_packed(self, mark: int, packed: bytes) -> int:
        """Take in a row whose numbers are packed, and say which it is, counted from 0."""
        # All look for the slot themselves, as `_slot` does: to call it takes longer than to look.
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        rows = self._rows
        if row:
            rows.write(row - 1, packed)
            return row - 1
        tail = rows.tail
        tail.frombytes(packed)
        if len(tail) >= rows.most:
            rows.flush()
        marks.append(mark)
        slots[slot] = row = len(marks)
        if 2 * row > last:
            self._grow()
        return row - 1

    def row_of(self, mark: int) -> int:
        """Which row a mark has, counted from 0; -1 if none."""
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        return row - 1

    def find(self, mark: int) -> tuple[Any, ...] | None:
        """The numbers of a mark."""
        row = self.row_of(mark)
        if row < 0:
            return None
        at = row * self._row.size - self._rows.filed
        if at >= 0:
            return self._row.unpack_from(self._rows.tail, at)
        return self._row.unpack(self._rows.read(row))

    def put(self, mark: int, column: int, number: float) -> None:
        """Change one number of a mark that is known."""
        row = self.row_of(mark)
        numbers = list(self._row.unpack(self._rows.read(row)))
        numbers[column] = number
        self._rows.write(row, self._row.pack(*numbers))

    def __len__(self) -> int:
        return len(self._marks)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """All rows, each with its mark before its numbers."""
        for mark, numbers in zip(self._marks, self._unpacked(), strict=True):
            yield mark, *numbers

    def in_order_of(self, *columns: int) -> Iterator[tuple[Any, ...]]:
        """All rows, by the numbers of a column; where they are the same, by those of the next."""
        held = [array(self._types[column]) for column in columns]
        for row in self._unpacked():
            for values, column in zip(held, columns, strict=True):
                values.append(row[column])
        key = held[0].__getitem__ if len(held) == 1 else _key_of(held)
        for at in _order_numbers(len(self._marks), key):
            yield self._marks[at], *self._row.unpack(self._rows.read(at))

    def count_pairs(self, first: int, second: int) -> Counter[tuple[int, int]]:
        """How many rows have which numbers in two columns that have one byte each."""
        pairs: Counter[tuple[int, int]] = Counter()
        starts = [calcsize(f"<{self._types[:column]}") for column in (first, second)]
        for rows in self._rows.blocks():
            pairs.update(zip(*[rows[start :: self._row.size] for start in starts], strict=True))
        return pairs

    def _unpacked(self) -> Iterator[tuple[Any, ...]]:
        return chain.from_iterable(map(self._row.iter_unpack, self._rows.blocks()))

    def _grow(self) -> None:
        # Four times as many: each row is put into its slot again a third of a time on average.
        slots = self._slots = array("I", (0,)) * (4 * len(self._slots))
        last = len(slots) - 1
        for row, mark in enumerate(self._marks, 1):
            slot = mark & last
            while slots[slot]:
                slot = (slot + 1) & last
            slots[slot] = row


def _key_of(columns: list[array[Any]]) -> Callable[[int], tuple[Any, ...]]:
    return lambda at: tuple([values[at] for values in columns])


def _order_numbers(count: int, key: Callable[[int], Any]) -> Iterator[int]:
    """The numbers up to a count, by their keys: a part at a time, then all parts at once."""
    starts = range(0, count, _SORTED_AT_ONCE)
    parts = [
        array("I", sorted(range(at, min(at + _SORTED_AT_ONCE, count)), key=key)) for at in starts
    ]
    return merge(*parts, key=key)
