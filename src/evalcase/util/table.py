"""Rows of values by key, for a million trials: SQLite keeps most of a large table in a temporary
file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

_CACHE_KB = 16_000
_AT_ONCE = 500
"""Rows that are held until they are written together."""


class Table:
    """Rows by mark, which is the hash of a key, in the order in which the marks first came. A row
    with a known mark replaces the earlier one."""

    def __init__(self, columns: int) -> None:
        names = [f"c{number}" for number in range(columns)]
        self._new: list[tuple[float | str | None, ...]] = []
        self._table = sqlite3.connect("", check_same_thread=False)  # a private, temporary file
        self._table.execute("PRAGMA journal_mode = OFF")  # nothing is rolled back
        self._table.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._table.execute(f"CREATE TABLE rows (mark UNIQUE, {', '.join(names)})")
        update = ", ".join(f"{name} = excluded.{name}" for name in names)
        places = ", ".join("?" * (columns + 1))
        self._add = f"INSERT INTO rows VALUES ({places}) ON CONFLICT DO UPDATE SET {update}"  # noqa: S608 - names of ours

    def add(self, mark: int, *values: float | str | None) -> None:
        self._new.append((mark, *values))
        if len(self._new) >= _AT_ONCE:
            self._rows  # noqa: B018 - it writes them

    @property
    def _rows(self) -> sqlite3.Connection:
        """The table with all rows that were added."""
        if self._new:
            self._table.executemany(self._add, self._new)
            self._new.clear()
        return self._table

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

    def count_by(self, column: int) -> dict[Any, int]:
        """How many rows have each value of a column."""
        return dict(self._rows.execute(f"SELECT c{column}, count(*) FROM rows GROUP BY 1"))  # noqa: S608 - as below

    def in_order_of(self, *columns: int) -> Iterator[tuple[Any, ...]]:
        order = ", ".join([f"c{column}" for column in columns] + ["rowid"])
        return self._rows.execute(f"SELECT * FROM rows ORDER BY {order}")  # noqa: S608 - as above
