"""A table of trials held in arrays: a mark of eight bytes for each, and some numbers beside it.

Resume asks of a million trials whether each is finished, and a dict of a million keys would take
more memory than all the rest of a run.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from struct import Struct
from typing import Any

MARK_BITS = 0xFFFF_FFFF_FFFF_FFFF
_FIRST_SIZE = 64


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
        self._rows = array("B")
        """Everything but the marks: to write a row at once takes a fraction of the time that as
        many columns would take."""
        self._slots = array("I", bytes(4 * _FIRST_SIZE))

    def add(self, mark: int, *numbers: float) -> None:
        # Both look for the slot themselves, as `_slot` does: to call it takes longer than to look.
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        if row:
            self._row.pack_into(self._rows, (row - 1) * self._row.size, *numbers)
            return
        self._rows.frombytes(self._row.pack(*numbers))
        marks.append(mark)
        slots[slot] = row = len(marks)
        if 2 * row > len(slots):
            self._grow()

    def find(self, mark: int) -> tuple[Any, ...] | None:
        """The numbers of a mark."""
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        return self._row.unpack_from(self._rows, (row - 1) * self._row.size) if row else None

    def put(self, mark: int, column: int, number: float) -> None:
        """Change one number of a mark that is known."""
        at = (self._slots[self._slot(mark)] - 1) * self._row.size
        numbers = list(self._row.unpack_from(self._rows, at))
        numbers[column] = number
        self._row.pack_into(self._rows, at, *numbers)

    def __len__(self) -> int:
        return len(self._marks)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """All rows, each with its mark before its numbers."""
        for mark, numbers in zip(self._marks, self._row.iter_unpack(self._rows), strict=True):
            yield mark, *numbers

    def in_order_of(self, *columns: int) -> Iterator[tuple[Any, ...]]:
        """All rows, by the numbers of a column; where they are the same, by those of the next."""
        order = array("I", range(len(self._marks)))
        for column in reversed(columns):
            numbers = (row[column] for row in self._row.iter_unpack(self._rows))
            key = array(self._types[column], numbers).__getitem__
            order = array("I", sorted(order, key=key))
        unpack, size = self._row.unpack_from, self._row.size
        return ((self._marks[at], *unpack(self._rows, at * size)) for at in order)

    def _slot(self, mark: int) -> int:
        """The slot that a mark has, or would get."""
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        slots = self._slots = array("I", bytes(8 * len(self._slots)))
        last = len(slots) - 1
        for row, mark in enumerate(self._marks, 1):
            slot = mark & last
            while slots[slot]:
                slot = (slot + 1) & last
            slots[slot] = row
