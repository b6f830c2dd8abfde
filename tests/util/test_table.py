from __future__ import annotations

import tracemalloc
from functools import partial
from random import Random

import pytest

from evalcase.util import table
from evalcase.util.table import RowStore, Table

MANY = 600_000
"""Rows of 16 bytes that are too many to stay in memory."""
SOME = MANY // 32


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table for which `SOME` are as many as `MANY` are for others."""
    in_memory, block = table._IN_MEMORY // 32, table._BLOCK // 32
    monkeypatch.setattr(table, "RowStore", partial(RowStore, in_memory=in_memory))
    monkeypatch.setattr(table, "_BLOCK", block)
    monkeypatch.setattr(table, "_SORTED_AT_ONCE", table._SORTED_AT_ONCE // 32)


def fill(filled: Table, count: int) -> Table:
    for mark in range(count):
        filled.add(mark * 7, (mark * 31) % 1000, mark / 2)
    return filled


def check(filled: Table, count: int) -> None:
    filled.add(7, 5, 0.25)
    filled.add(14, 62, 0.75)
    assert len(filled) == count
    assert [filled.find(mark) for mark in (0, 7, 14, 7 * count - 7, 1)] == [
        (0, 0.0), (5, 0.25), (62, 0.75), ((count - 1) * 31 % 1000, (count - 1) / 2), None
    ]  # fmt: skip
    marks = [row[0] for row in filled]
    assert marks == [mark * 7 for mark in range(count)]


def test_a_table_of_many_rows_is_found_changed_and_gone_through() -> None:
    check(fill(Table("Qd"), MANY), MANY)


@pytest.mark.usefixtures("smaller")
def test_rows_come_in_the_order_of_columns() -> None:
    filled = fill(Table("Qd"), SOME)
    rows = [(number, half) for _, number, half in filled.in_order_of(0, 1)]
    assert rows == sorted(rows)
    assert len(rows) == SOME
    shuffled = Table("I")
    numbers = list(range(SOME))
    Random(1).shuffle(numbers)
    for number in numbers:
        shuffled.add(number, number)
    assert [row[1] for row in shuffled.in_order_of(0)] == sorted(numbers)


def test_many_rows_are_not_in_memory() -> None:
    store = RowStore(100)
    tracemalloc.start()
    for _ in range(100_000):
        store.append(b"x" * 100)
    assert tracemalloc.get_traced_memory()[0] < 1_000_000
    tracemalloc.stop()
    assert sum(map(len, store.blocks())) == 10_000_000
