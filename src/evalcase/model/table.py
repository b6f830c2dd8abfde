"""A table of trials held in arrays: a mark of eight bytes for each, and some numbers beside it.

Resume asks of a million trials whether each is finished, and a dict of a million keys would take
more memory than all the rest of a run.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from typing import Any

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_FIRST_SIZE = 64


def mark_of(key: Hashable) -> int:
    """A number that stands for a key: two keys share one about as often as never."""
    return hash(key) & _MASK


class Table:
    """Rows of numbers by mark, in the order in which marks first came.

    A row whose mark is known takes the place of the earlier one. Rows are found by hashing: a
    slot has the number of a row, counted from 1, and 0 where it is free.
    """

    def __init__(self, types: str) -> None:
        """`types` are those of `array`, one for each column."""
        self._marks = array("Q")
        self._columns: list[array[Any]] = [array(each) for each in types]
        self._slots = array("I", bytes(4 * _FIRST_SIZE))

    def add(self, mark: int, *numbers: float) -> None:
        slot = self._slot(mark)
        row = self._slots[slot]
        if row:
            for column, number in zip(self._columns, numbers, strict=True):
                column[row - 1] = number
            return
        self._marks.append(mark)
        for column, number in zip(self._columns, numbers, strict=True):
            column.append(number)
        self._slots[slot] = len(self._marks)
        if 2 * len(self._marks) > len(self._slots):
            self._grow()

    def find(self, mark: int) -> tuple[Any, ...] | None:
        """The numbers of a mark."""
        row = self._slots[self._slot(mark)]
        return tuple([column[row - 1] for column in self._columns]) if row else None

    def put(self, mark: int, column: int, number: float) -> None:
        """Change one number of a mark that is known."""
        self._columns[column][self._slots[self._slot(mark)] - 1] = number

    def __len__(self) -> int:
        return len(self._marks)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """All rows, each with its mark before its numbers."""
        return zip(self._marks, *self._columns, strict=True)

    def in_order_of(self, *columns: int) -> Iterator[tuple[Any, ...]]:
        """All rows, by the numbers of a column; where they are the same, by those of the next."""
        order = array("I", range(len(self._marks)))
        for column in reversed(columns):
            order = array("I", sorted(order, key=self._columns[column].__getitem__))
        return ((self._marks[at], *[each[at] for each in self._columns]) for at in order)

    def _slot(self, mark: int) -> int:
        """The slot that a mark has, or would get."""
        slots, marks = self._slots, self._marks
        last = len(slots) - 1
        slot = mark & last
        while (row := slots[slot]) and marks[row - 1] != mark:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        self._slots = array("I", bytes(8 * len(self._slots)))
        for row, mark in enumerate(self._marks, 1):
            self._slots[self._slot(mark)] = row
