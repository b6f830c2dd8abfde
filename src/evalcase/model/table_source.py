"""What a suite takes from files as values: their texts, and the rows of tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from evalcase.model.finding import Unfit


class TableRow(NamedTuple):
    """One row of a table: values by the names of their columns."""

    values: dict[str, Any]
    place: str
    """Where it stands: `qa.csv:7`."""


class NamedFiles(Protocol):
    """The files that a suite may name. Whoever resolves a suite touches no disk."""

    def text_of(self, name: str) -> str | Unfit:
        """The text in a file, or why it can't be had."""
        ...

    def rows_of(self, name: str) -> Iterable[TableRow] | Unfit:
        """The rows of a table, read as they are asked for; those with errors are left out, and
        told of elsewhere."""
        ...

    def has_errors_in(self, name: str) -> bool:
        """Whether a table that was read to its end has rows with errors."""
        ...
