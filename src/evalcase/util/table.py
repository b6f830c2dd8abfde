"""Rows of values by key, for a million trials: SQLite keeps most of a large table in a temporary
file."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Iterator
from typing import Any

_CACHE_KB = 16_000


def mark_of(key: Hashable) -> int:
    """The hash of a key, which has eight bytes."""
    return hash(key)


class Table:
    """Rows by mark, in the order in which the marks first came. A row with a known mark replaces
    the earlier one."""

    def __init__(self, columns: int) -> None:
        names = [f"c{number}" for number in range(columns)]
        self._rows = sqlite3.connect("", check_same_thread=False)  # a private, temporary file
        self._rows.execute("PRAGMA journal_mode = OFF")  # nothing is rolled back
        self._rows.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._rows.execute(f"CREATE TABLE rows (mark UNIQUE, {', '.join(names)})")
        update = ", ".join(f"{name} = excluded.{name}" for name in names)
        places = ", ".join("?" * (columns + 1))
        self._add = f"INSERT INTO rows VALUES ({places}) ON CONFLICT DO UPDATE SET {update}"  # noqa: S608 - names of ours

    def add(self, mark: int, *values: float | str | None) -> None:
        self._rows.execute(self._add, (mark, *values))

    def find(self, mark: int) -> tuple[Any, ...] | None:
        found = self._rows.execute("SELECT * FROM rows WHERE mark = ?", (mark,)).fetchone()
        return None if found is None else found[1:]

    def __contains__(self, mark: int) -> bool:
        return self.find(mark) is not None

    def __len__(self) -> int:
        # The last number: rows are never taken out, and SQLite would count them one by one.
        last: int | None = self._rows.execute("SELECT max(rowid) FROM rows").fetchone()[0]
        return last or 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """All rows, each with its mark before its values."""
        return self._rows.execute("SELECT * FROM rows ORDER BY rowid")

    def in_order_of(self, *columns: int) -> Iterator[tuple[Any, ...]]:
        order = ", ".join([f"c{column}" for column in columns] + ["rowid"])
        return self._rows.execute(f"SELECT * FROM rows ORDER BY {order}")  # noqa: S608 - as above
