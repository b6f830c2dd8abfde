"""One export of OTLP JSON in, its spans and log records out, each still as it was written.

Only what says where a piece belongs is looked at here: its trace, and the case that it is of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from evalcase.traces.span import BadTraceError, read_attributes, read_id
from evalcase.types.value import JSON, describe_kind

_SIGNALS = {
    "resourceSpans": ("span", "scopeSpans", "spans"),
    "resourceLogs": ("log", "scopeLogs", "logRecords"),
    "resourceMetrics": None,
}
"""What an export may hold, and where. Metrics say nothing of a single answer."""


class Piece(NamedTuple):
    """A span or a log record."""

    kind: Literal["span", "log"]
    trace: str
    raw: dict[str, Any]
    more: dict[str, JSON]
    """Attributes of the whole program."""


def read_pieces(export: JSON) -> Iterator[Piece]:
    """The spans and log records of an export, or of a list of exports."""
    for each in export if isinstance(export, list) else (export,):
        if not isinstance(each, dict):
            raise BadTraceError(
                f"an export is an object with `resourceSpans`, not {describe_kind(each)}"
            )
        signals = [name for name in _SIGNALS if name in each]
        if not signals and each:
            raise BadTraceError(_what_else(each))
        for name in signals:
            if _SIGNALS[name] is not None:
                yield from _pieces_of(each, name)


def _what_else(value: dict[str, Any]) -> str:
    """Why something is no export, in words that help whoever wrote it by other means."""
    message = "an export of OTLP JSON has `resourceSpans`, and this hasn't"
    if "context" in value and "start_time" in value:
        return f"{message}: it is a span as the console exporter prints it"
    return f"{message}: it has {', '.join(f'`{key[:40]}`' for key in list(value)[:5])}"


def _pieces_of(export: dict[str, Any], signal: str) -> Iterator[Piece]:
    where = _SIGNALS[signal]
    assert where is not None
    which, scopes, items = where
    for number, resource in enumerate(_read_objects(export, signal, "")):
        place = f"{signal}[{number}]"
        about = resource.get("resource")
        more = read_attributes(about) if isinstance(about, dict) else {}
        for at, scope in enumerate(_read_objects(resource, scopes, place)):
            inner = f"{place}.{scopes}[{at}]"
            for index, raw in enumerate(_read_objects(scope, items, inner)):
                trace = read_id(raw, "traceId")
                if which == "log" and (not trace or not read_id(raw, "spanId")):
                    continue  # it is of no trace
                if not trace or not read_id(raw, "spanId"):
                    lacks = "spanId" if trace else "traceId"
                    raise BadTraceError(f"{inner}.{items}[{index}] has no `{lacks}`")
                yield Piece("span" if which == "span" else "log", trace, raw, more)


def _read_objects(holder: dict[str, Any], name: str, place: str) -> list[dict[str, Any]]:
    items = holder.get(name) or []
    shown = f"{place}.{name}" if place else name
    if not isinstance(items, list):
        raise BadTraceError(f"{shown} is a list, not {describe_kind(items)}")
    for number, each in enumerate(items):
        if not isinstance(each, dict):
            raise BadTraceError(f"{shown}[{number}] is an object, not {describe_kind(each)}")
    return items
