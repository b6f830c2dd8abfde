"""Rows in, CSV out that a spreadsheet shows and never obeys.

A text that begins like a formula gets an apostrophe before it, as spreadsheets themselves do for
text, and so do digits that would lose their zeros; numbers are written as numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalcase.report.files.rows import RowCell
from evalcase.util.text import UNSEEN

_FORMULA = re.compile(
    rf"[\s\x00\ufeff{UNSEEN}]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|\s*0[0-9]+\s*\Z"
)
"""What makes a spreadsheet calculate, also after white space or what nobody sees; in full width,
too. And digits after a zero, which it would drop."""
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ROWS = 1000


def csv_pieces(columns: Sequence[str], rows: Iterable[Mapping[str, RowCell]]) -> Iterator[str]:
    """The header and every row; some rows in each piece."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([_write_cell(name) for name in columns])
    for number, row in enumerate(rows, 1):
        writer.writerow([_write_cell(row.get(name)) for name in columns])
        if number % _ROWS == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _write_cell(value: RowCell) -> RowCell:
    if isinstance(value, float):
        return f"{value:.12g}"
    if not isinstance(value, str):
        return value
    text = _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", value)
    return f"'{text}" if _FORMULA.match(text) else text
