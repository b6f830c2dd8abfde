"""A span of OTLP JSON as a value: names, times, attributes as plain JSON, events, and how it ended.

What a number is may be written as text, and an enum as its number or its name: both are in use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalcase.types.value import JSON, Value, describe_kind

_HEX = re.compile("[0-9a-f]+", re.IGNORECASE)
_ERROR = 2
_FAILED = ("2", "STATUS_CODE_ERROR", "ERROR")
_MOST_NS = 2**63
_LONGEST_NAME = 200
_SAYS_WHERE, _ELSEWHERE = 0x100, 0x200
"""Bits of the flags of a span: whether they say where its parent is, and that it is elsewhere."""


class BadTraceError(ValueError):
    """Something is no OTLP JSON, or no trace that could be. The message says what and where."""


class SpanEvent(NamedTuple):
    """What a span says happened within it, or a log record that names the span."""

    name: str
    attributes: dict[str, JSON]


class TraceSpan(Value, frozen=True):
    """One step of what a program did."""

    id: str
    parent: str
    """The id of the span that it is part of; empty for the first."""
    name: str
    start_ns: int
    end_ns: int
    """Both are since 1970; 0 where nobody says."""
    attributes: dict[str, JSON]
    events: list[SpanEvent]
    error: str | None = None
    """What went wrong, in words that may be empty; None where nothing did."""
    has_near_parent: bool = False
    """Whether it is part of a span of the same program: a trace without that one isn't whole."""

    @property
    def duration_s(self) -> float | None:
        return seconds_between(self.start_ns, self.end_ns)

    def text(self, *names: str) -> str | None:
        """The first of some attributes that is a text with something in it."""
        for name in names:
            value = self.attributes.get(name)
            if isinstance(value, str) and value:
                return value
        return None

    def number(self, *names: str) -> float | None:
        """The first of some attributes that is a number of 0 or more."""
        for name in names:
            value = self.attributes.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
                return value
        return None


def seconds_between(start_ns: int, end_ns: int) -> float | None:
    """How long something took; None where its times are not known, or make no sense."""
    if start_ns <= 0 or end_ns < start_ns:
        return None
    return round((end_ns - start_ns) / 1e9, 9)


def read_span(raw: dict[str, Any], more: dict[str, JSON]) -> TraceSpan:
    """A span of its JSON; `more` are attributes that hold for all of its program."""
    events = [read_event(each) for each in _read_list(raw, "events")]
    attributes = {**more, **read_attributes(raw)}
    return TraceSpan(
        read_id(raw, "spanId"), read_id(raw, "parentSpanId"),
        _read_text(raw, "name")[:_LONGEST_NAME],
        _read_time(raw, "startTimeUnixNano"), _read_time(raw, "endTimeUnixNano"),
        attributes, events, _error_of(raw, events, attributes), _has_near_parent(raw),
    )  # fmt: skip


def read_id(raw: dict[str, Any], name: str) -> str:
    """An id, in one spelling: hexadecimal digits are the same in both cases, base64 is not."""
    value = _read_text(raw, name)
    return value.lower() if _HEX.fullmatch(value) else value


def _has_near_parent(raw: dict[str, Any]) -> bool:
    flags = raw.get("flags") if raw.get("parentSpanId") else 0
    return isinstance(flags, int) and flags & (_SAYS_WHERE | _ELSEWHERE) == _SAYS_WHERE


def read_event(raw: JSON) -> SpanEvent:
    """An event of a span, or a log record: then what it says is in its body."""
    if not isinstance(raw, dict):
        raise BadTraceError(f"an event is an object, not {describe_kind(raw)}")
    attributes = read_attributes(raw)
    name = raw.get("name") or raw.get("eventName") or attributes.get("event.name") or ""
    if "body" in raw:
        body = unwrap_value(raw["body"])
        attributes |= body if isinstance(body, dict) else {"body": body}
    return SpanEvent(str(name), attributes)


def read_attributes(raw: dict[str, Any]) -> dict[str, JSON]:
    return dict(_read_pairs(_read_list(raw, "attributes")))


def _read_pairs(items: list[Any]) -> Iterator[tuple[str, JSON]]:
    for each in items:
        if not isinstance(each, dict) or not isinstance(each.get("key"), str):
            raise BadTraceError("an attribute is an object with a `key` and a `value`")
        yield each["key"], unwrap_value(each.get("value"))


def unwrap_value(value: JSON) -> JSON:
    """A value as OTLP wraps it: `{"stringValue": …}`, `{"intValue": "5"}`, and so on."""
    if value is None or value == {}:
        return None
    if not isinstance(value, dict) or len(value) != 1:
        raise BadTraceError('a value is an object such as {"stringValue": "…"}')
    ((name, inner),) = value.items()
    if name == "intValue":
        return _read_integer(inner)
    if name in ("arrayValue", "kvlistValue"):
        items = _read_list(inner, "values") if isinstance(inner, dict) else []
        return (
            dict(_read_pairs(items)) if name == "kvlistValue" else [unwrap_value(i) for i in items]
        )
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


def _read_time(raw: dict[str, Any], name: str) -> int:
    value = _read_integer(raw.get(name, 0))
    if not isinstance(value, int) or not 0 <= value < _MOST_NS:
        raise BadTraceError(f"`{name}` is a time in nanoseconds, not {raw[name]!r:.40}")
    return value


def _read_text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def _read_list(raw: dict[str, Any], name: str) -> list[Any]:
    value = raw.get(name)
    if value is not None and not isinstance(value, list):
        raise BadTraceError(f"`{name}` is a list, not {describe_kind(value)}")
    return value or []


def _error_of(
    raw: dict[str, Any], events: list[SpanEvent], attributes: dict[str, JSON]
) -> str | None:
    status = raw.get("status")
    status = status if isinstance(status, dict) else {}
    code = status.get("code")
    if code != _ERROR and str(code).strip().upper() not in _FAILED:
        return None
    return find_reason(_read_text(status, "message"), events, attributes)


def find_reason(told: str, events: list[SpanEvent], attributes: dict[str, JSON]) -> str:
    """Why a span failed: as its status says, or its exception, or the type of its error."""
    said = [told]
    for event in events:
        if event.name == "exception":
            what = (event.attributes.get(f"exception.{key}") for key in ("type", "message"))
            said.append(": ".join(str(each) for each in what if each))
    said.append(str(attributes.get("error.type") or ""))
    return next((each for each in said if each), "")
