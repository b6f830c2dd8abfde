"""The rows of a journal, for tests that look at what was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalcase.record.lines import JournalLines, damaged_error
from evalcase.text.journal_row import decode_row


def read_rows(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every whole row with the number of its line. A torn last line is left out."""
    lines = JournalLines(path)
    for line in lines:
        try:
            row = decode_row(line)
        except ValueError as error:
            raise damaged_error(path, lines.count, f"is not a row of a journal: {error}") from error
        yield lines.count, row
