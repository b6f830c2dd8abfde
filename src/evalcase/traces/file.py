"""A file of traces in, its exports out, one at a time: one on each line, as collectors write them,
or the whole file as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from evalcase.traces.export import Piece, read_pieces
from evalcase.traces.span import BadTraceError
from evalcase.types.value import JSON
from evalcase.util.json import DEEPEST_ROW, BadJsonError, parse_json
from evalcase.util.rows import MAX_LINE

MOST_TRACE_BYTES = MAX_LINE
"""Of one export. A file of lines may have any number of them."""


def read_trace_file(file: BinaryIO) -> Iterator[Piece]:
    """Every span and log record of a file. Raise BadTraceError, which names the line."""
    number = 0
    for number, export in _read_exports(file):
        try:
            yield from read_pieces(export)
        except BadTraceError as error:
            raise BadTraceError(_place_fault(number, str(error))) from None
    if not number:
        raise BadTraceError(": it is empty")


def _read_exports(file: BinaryIO) -> Iterator[tuple[int, JSON]]:
    number = 0
    while line := file.readline(MOST_TRACE_BYTES + 1):
        number += 1
        if len(line) > MOST_TRACE_BYTES:
            raise BadTraceError(
                _place_fault(number, f"it is longer than {MOST_TRACE_BYTES:,} bytes")
            )
        if not line.strip():
            continue
        try:
            export = parse_json(line, DEEPEST_ROW)
        except BadJsonError as error:
            if line.strip() not in (b"{", b"[") and not _goes_on(line):
                raise BadTraceError(_place_fault(number, f"it is not JSON: {error}")) from None
            yield number, _read_whole(line, file)
            return
        yield number, export


def _goes_on(line: bytes) -> bool:
    """Whether a line is the first of a text of several: one that is cut short ends otherwise."""
    return line.rstrip().endswith((b"{", b"[", b","))


def _read_whole(begun: bytes, file: BinaryIO) -> JSON:
    data = begun + file.read(MOST_TRACE_BYTES + 1 - len(begun))
    if len(data) > MOST_TRACE_BYTES:
        what = f": it is one export of more than {MOST_TRACE_BYTES:,} bytes; write one on each line"
        raise BadTraceError(what)
    try:
        return parse_json(data, DEEPEST_ROW)
    except BadJsonError as error:
        raise BadTraceError(f": it is not JSON: {error}") from None


def _place_fault(number: int, what: str) -> str:
    return f":{number}: {what}"
