"""The spans of a file, by trace: spans of one may stand anywhere in it, and the first ends last.

All of it is read once. What is kept in memory is where each span stands in a file of our own, so
that a trace is a few seeks, and a large file takes little room.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from json import loads
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple

from evalcase.traces.export import Piece
from evalcase.traces.span import (
    BadTraceError,
    SpanEvent,
    TraceSpan,
    read_event,
    read_id,
    read_span,
)
from evalcase.types.value import JSON
from evalcase.util.json import compact_encoder

MOST_PIECES = 20_000
"""Of one trace: no agent takes so many steps for one answer."""

_IN_MEMORY = 16 * 1024 * 1024
_to_json = compact_encoder()


class Stored(NamedTuple):
    """A trace as it lies in the store."""

    id: str
    places: array[int]
    """Where its pieces begin, in the order in which they came."""


class TraceStore:
    """Traces by their ids, in the order in which they were first seen."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
        self._traces: dict[str, Stored] = {}
        self._programs: list[dict[str, JSON]] = []
        """What holds for all spans of a program, once for all of them."""
        self._known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._traces)

    def __iter__(self) -> Iterator[str]:
        return iter(self._traces)

    def fill(self, pieces: Iterable[Piece]) -> None:
        """Take in pieces. Raise BadTraceError where a trace has too many."""
        at = 0
        for kind, trace, raw, more in pieces:
            stored = self._traces.get(trace)
            if stored is None:
                stored = self._traces[trace] = Stored(trace, array("Q"))
            if len(stored.places) >= MOST_PIECES:
                raise BadTraceError(f": the trace {trace} has more than {MOST_PIECES:,} spans")
            stored.places.append(at)
            row = [kind, raw, self._program(more)]
            at += self._file.write(_to_json(row).encode("ascii") + b"\n")

    def read(self, trace: str) -> list[TraceSpan]:
        """The spans of a trace, as they came; one that was exported twice is there once. Raise
        BadTraceError where two differ and have one id: nobody knows which of them is true."""
        spans: dict[str, TraceSpan] = {}
        logs: list[tuple[str, SpanEvent]] = []
        for kind, raw, more in self._pieces(trace):
            if kind == "span":
                span = read_span(raw, more)
                spans[span.id] = _settle_span(spans.get(span.id), span)
            else:
                logs.append((read_id(raw, "spanId"), read_event(raw)))
        for id, event in logs:
            if id in spans:
                spans[id].events.append(event)
        return list(spans.values())

    def _program(self, more: dict[str, JSON]) -> int:
        key = _to_json(more)
        if key not in self._known:
            self._known[key] = len(self._programs)
            self._programs.append(more)
        return self._known[key]

    def close(self) -> None:
        self._file.close()

    def _pieces(self, trace: str) -> Iterator[tuple[str, dict[str, Any], dict[str, JSON]]]:
        for place in self._traces[trace].places:
            self._file.seek(place)
            kind, raw, program = loads(self._file.readline())
            yield kind, raw, self._programs[program]


def _settle_span(known: TraceSpan | None, span: TraceSpan) -> TraceSpan:
    """Which of two exports of a span counts: the one in which it has ended."""
    if known is None or (not known.end_ns and span.end_ns):
        return span
    if known == span or (known.end_ns and not span.end_ns):
        return known
    raise BadTraceError(f"two of its spans have the id {span.id[:40]}, and differ")
