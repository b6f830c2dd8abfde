"""OTLP JSON to spans: a file of exports, the pieces of an export, and a store of spans by trace.

Exporters write numbers as numbers or as texts, and an enum by its number or its name: both are
read.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from json import loads
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Literal, NamedTuple

from evalcase.types.value import JSON, Value, describe_kind
from evalcase.util.json import DEEPEST_ROW, MAX_LINE, BadJsonError, compact_encoder, parse_json

MAX_SPANS = 20_000
"""Spans and log records of one trace."""
_MAX_EXPORT = MAX_LINE
_MAX_NS = 2**63
_MAX_NAME = 200
_IN_MEMORY = 16 * 1024 * 1024
_HEX = re.compile("[0-9a-f]+", re.IGNORECASE)
_ERROR = 2
_FAILED = ("2", "STATUS_CODE_ERROR", "ERROR")
# Flags of a span: whether they say where its parent is, and that it is in another process.
_HAS_REMOTE_FLAG, _IS_REMOTE = 0x100, 0x200
_SIGNALS: dict[str, tuple[Literal["span", "log"], str, str] | None] = {
    "resourceSpans": ("span", "scopeSpans", "spans"),
    "resourceLogs": ("log", "scopeLogs", "logRecords"),
    "resourceMetrics": None,  # metrics say nothing about a single answer
}
_to_json = compact_encoder()


class BadTraceError(ValueError):
    """Text that is no OTLP JSON, or an impossible trace. The message says what and where."""


class Piece(NamedTuple):
    kind: Literal["span", "log"]
    trace: str
    raw: dict[str, Any]
    resource: dict[str, JSON]
    """Attributes of the whole program."""


class SpanEvent(NamedTuple):
    """An event of a span, or a log record that names the span."""

    name: str
    attributes: dict[str, JSON]


class TraceSpan(Value, frozen=True):
    """One step of a program. Times are nanoseconds since 1970, 0 if unknown."""

    id: str
    parent: str
    """The id of the span around it; empty for the first."""
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, JSON]
    events: list[SpanEvent]
    error: str | None = None
    """Why it failed, perhaps an empty text; None if it did not."""
    has_local_parent: bool = False
    """Whether its parent is of the same program: a trace without that span is not whole."""

    @property
    def duration_s(self) -> float | None:
        return seconds_between(self.start_ns, self.end_ns)

    def text(self, *names: str) -> str | None:
        values = (self.attributes.get(name) for name in names)
        return next((each for each in values if isinstance(each, str) and each), None)

    def number(self, *names: str) -> float | None:
        for name in names:
            value = self.attributes.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
                return value
        return None


def seconds_between(start_ns: int, end_ns: int) -> float | None:
    """None if a time is unknown, or the order is wrong."""
    if start_ns <= 0 or end_ns < start_ns:
        return None
    return round((end_ns - start_ns) / 1e9, 9)


def read_trace_file(file: BinaryIO) -> Iterator[Piece]:
    """Every span and log record of a file: one export per line, or the whole file as one. Raise
    BadTraceError, which names the line."""
    number, position = 0, ""
    try:
        while line := file.readline(_MAX_EXPORT + 1):
            number += 1
            position = f":{number}"
            if line.rstrip().endswith((b"{", b"[", b",")):  # the rest follows on other lines
                position = ""
                line += file.read(_MAX_EXPORT + 1)
            if len(line) > _MAX_EXPORT:
                what = f"an export is longer than {_MAX_EXPORT:,} bytes"
                raise BadTraceError(f"{what}; write one on each line")
            if line.strip():
                yield from read_pieces(parse_json(line, DEEPEST_ROW))
    except BadJsonError as error:
        raise BadTraceError(f"{position}: it is not JSON: {error}") from None
    except BadTraceError as error:
        raise BadTraceError(f"{position}: {error}") from None
    if not number:
        raise BadTraceError(": it is empty")


def read_pieces(export: JSON) -> Iterator[Piece]:
    """The spans and log records of an export, or of a list of exports."""
    for each in export if isinstance(export, list) else (export,):
        if not isinstance(each, dict):
            what = f"an export is an object with `resourceSpans`, not {describe_kind(each)}"
            raise BadTraceError(what)
        if each and _SIGNALS.keys().isdisjoint(each):
            names = ", ".join(f"`{key[:40]}`" for key in list(each)[:5])
            what = f"an export of OTLP JSON has `resourceSpans`, and this has {names}"
            hint = "; the console exporter prints another form" if "start_time" in each else ""
            raise BadTraceError(what + hint)
        for signal, keys in _SIGNALS.items():
            if signal in each and keys is not None:
                yield from _pieces_of(each, signal, *keys)


def _pieces_of(
    export: dict[str, Any], signal: str, kind: Literal["span", "log"], scopes: str, items: str
) -> Iterator[Piece]:
    for holder in _read_objects(export, signal):
        about = holder.get("resource")
        resource = read_attributes(about) if isinstance(about, dict) else {}
        for scope in _read_objects(holder, scopes):
            for raw in _read_objects(scope, items):
                trace = read_id(raw, "traceId")
                if trace and read_id(raw, "spanId"):
                    yield Piece(kind, trace, raw, resource)
                elif kind == "span":  # a log record may be of no trace
                    raise BadTraceError(f"a span has no `{'spanId' if trace else 'traceId'}`")


def _read_objects(holder: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    items = holder.get(name) or []
    for each in items if isinstance(items, list) else [items]:
        if not isinstance(each, dict) or not isinstance(items, list):
            raise BadTraceError(f"`{name}` is a list of objects, and holds {describe_kind(each)}")
        yield each


class TraceStore:
    """Traces by id, in the order in which they were first seen.

    The spans of a trace may stand anywhere in a file. Memory holds only the positions of spans in
    a temporary file, so that a large file of traces needs little memory.
    """

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
        self._positions: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def close(self) -> None:
        self._file.close()

    def fill(self, pieces: Iterable[Piece]) -> None:
        """Raise BadTraceError if a trace has too many spans."""
        position = 0
        for kind, trace, raw, resource in pieces:
            positions = self._positions.setdefault(trace, array("Q"))
            if len(positions) >= MAX_SPANS:
                raise BadTraceError(f": the trace {trace} has more than {MAX_SPANS:,} spans")
            positions.append(position)
            position += self._file.write(_to_json([kind, raw, resource]).encode("ascii") + b"\n")

    def read(self, trace: str) -> list[TraceSpan]:
        """The spans of a trace. A span that was exported twice is there once. Raise BadTraceError
        if two spans have one id and differ."""
        spans: dict[str, TraceSpan] = {}
        logs: list[tuple[str, SpanEvent]] = []
        for position in self._positions[trace]:
            self._file.seek(position)
            kind, raw, resource = loads(self._file.readline())
            if kind != "span":
                logs.append((read_id(raw, "spanId"), read_event(raw)))
                continue
            span = read_span(raw, resource)
            known = spans.get(span.id)
            # Of two exports of one span, the one that has ended counts.
            if known is None or (not known.end_ns and span.end_ns):
                spans[span.id] = span
            elif known != span and bool(known.end_ns) == bool(span.end_ns):
                raise BadTraceError(f"two of its spans have the id {span.id[:40]}, and differ")
        for id, event in logs:
            if id in spans:
                spans[id].events.append(event)
        return list(spans.values())


def read_span(raw: dict[str, Any], resource: dict[str, JSON]) -> TraceSpan:
    events = [read_event(each) for each in _read_objects(raw, "events")]
    attributes = {**resource, **read_attributes(raw)}
    flags = raw.get("flags") if raw.get("parentSpanId") else 0
    is_local = isinstance(flags, int) and flags & (_HAS_REMOTE_FLAG | _IS_REMOTE)
    return TraceSpan(
        read_id(raw, "spanId"), read_id(raw, "parentSpanId"), _read_text(raw, "name")[:_MAX_NAME],
        read_time(raw, "startTimeUnixNano"), read_time(raw, "endTimeUnixNano"),
        attributes, events, _error_of(raw, events, attributes), is_local == _HAS_REMOTE_FLAG,
    )  # fmt: skip


def read_id(raw: dict[str, Any], name: str) -> str:
    value = _read_text(raw, name)
    return value.lower() if _HEX.fullmatch(value) else value


def read_event(raw: dict[str, Any]) -> SpanEvent:
    attributes = read_attributes(raw)
    name = raw.get("name") or raw.get("eventName") or attributes.get("event.name") or ""
    if "body" in raw:  # a log record
        body = unwrap_value(raw["body"])
        attributes |= body if isinstance(body, dict) else {"body": body}
    return SpanEvent(str(name), attributes)


def read_attributes(raw: dict[str, Any], name: str = "attributes") -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for each in _read_objects(raw, name):
        if not isinstance(each.get("key"), str):
            raise BadTraceError("an attribute is an object with a `key` and a `value`")
        found[each["key"]] = unwrap_value(each.get("value"))
    return found


def unwrap_value(value: JSON) -> JSON:
    """The value of `{"stringValue": …}`, `{"intValue": "5"}` and so on."""
    if value is None or value == {}:
        return None
    if not isinstance(value, dict) or len(value) != 1:
        raise BadTraceError('a value is an object such as {"stringValue": "…"}')
    ((name, inner),) = value.items()
    if name == "intValue":
        return _read_integer(inner)
    if name == "kvlistValue":
        return read_attributes(inner, "values") if isinstance(inner, dict) else {}
    if name == "arrayValue":
        items = inner.get("values") if isinstance(inner, dict) else None
        return [*map(unwrap_value, items)] if isinstance(items, list) else []
    if name in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        return inner
    raise BadTraceError(f"a value has one of the types of OTLP, not `{name[:40]}`")


def _read_integer(value: JSON) -> JSON:
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise BadTraceError(f"`intValue` is a whole number, not {value[:40]!r}") from None
    return value


def read_time(raw: dict[str, Any], name: str) -> int:
    value = _read_integer(raw.get(name, 0))
    if not isinstance(value, int) or not 0 <= value < _MAX_NS:
        raise BadTraceError(f"`{name}` is a time in nanoseconds, not {raw[name]!r:.40}")
    return value


def _read_text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def _error_of(
    raw: dict[str, Any], events: list[SpanEvent], attributes: dict[str, JSON]
) -> str | None:
    status = raw.get("status")
    status = status if isinstance(status, dict) else {}
    code = status.get("code")
    if code != _ERROR and str(code).strip().upper() not in _FAILED:
        return None
    return find_reason(_read_text(status, "message"), events, attributes)


def find_reason(message: str, events: list[SpanEvent], attributes: dict[str, JSON]) -> str:
    """Why a span failed: its status message, its exception, or the type of its error."""
    if message:
        return message
    for event in events:
        if event.name == "exception":
            parts = (event.attributes.get(f"exception.{key}") for key in ("type", "message"))
            if text := ": ".join(str(each) for each in parts if each):
                return text
    return str(attributes.get("error.type") or "")
