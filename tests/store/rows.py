"""Rows of a journal as plain dicts, for tests that look at what was written, and for those that
write what evalcase would not."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from evalcase.store import rows
from evalcase.store.index import read_index
from evalcase.store.reader import JournalLines, damaged_error
from evalcase.store.rows import CaseRow, Row, write_row
from evalcase.types.case import Case
from evalcase.types.result import Result, Totals
from evalcase.util.json import body_of, parse_body, seal_line

KEY = ("suite", "case", "target", "repeat")


def read_rows(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every whole row with the number of its line. A torn last line is left out. The parts of a key
    stand by name, too."""
    lines = JournalLines(path)
    for line in lines:
        try:
            row = decode_row(line)
        except ValueError as error:
            raise damaged_error(path, lines.count, f"is not a row of a journal: {error}") from error
        yield lines.count, row


def read_results(path: str, upto: int | None = None) -> Iterator[Result]:
    """Every result that counts, in the order of the cases."""
    return read_index(path, upto).results()


def read_totals(path: str, upto: int | None = None) -> Totals:
    return read_index(path, upto).tally().totals()


def decode_row(line: bytes) -> dict[str, Any]:
    row = parse_body(body_of(line))
    if isinstance(row.get("key"), list):
        row |= zip(KEY, row["key"], strict=True)
    return row


def encode_row(row: dict[str, Any]) -> bytes:
    """The line of a row, right or wrong."""
    row = dict(row)
    if "key" in row or all(name in row for name in KEY):
        names = [name for name in KEY if name in row]
        key = dict(zip(KEY, row.pop("key", ()), strict=False))
        key |= {name: row.pop(name) for name in names}
        row = {
            "type": row.pop("type", None),
            "key": [key[name] for name in KEY if name in key],
            **row,
        }
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return seal_line(text.encode("utf-8", "backslashreplace"))


def as_row(row: dict[str, Any]) -> Row:
    return rows.decode_row(body_of(encode_row(row)))


def dict_of(row: Row) -> dict[str, Any]:
    return decode_row(write_row(row))


def case_row(suite: str, case: Case) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(CaseRow.of(suite, case))
    return row


def end_row(end: Row) -> dict[str, Any]:
    return dict_of(end)
