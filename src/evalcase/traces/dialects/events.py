"""Messages as events of a span, the older way of the conventions: `gen_ai.user.message`,
`gen_ai.choice`; before that `gen_ai.content.prompt`; and pydantic-ai's list of them, `events`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evalcase.traces.dialects.said import (
    SaidMessage,
    SpanMessages,
    call_of,
    message_of,
    parse_attribute,
    speaker_of,
)
from evalcase.traces.span import SpanEvent, TraceSpan
from evalcase.types.value import JSON

_INPUT = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_CHOICE = "gen_ai.choice"
_WHOLE = {
    "gen_ai.content.prompt": ("gen_ai.prompt", "user"),
    "gen_ai.content.completion": ("gen_ai.completion", "assistant"),
}


def read_events(span: TraceSpan) -> SpanMessages | None:
    """What was said; None where the span doesn't say it in this way."""
    said = SpanMessages([], [])
    for event in (*_read_listed(span.attributes.get("events")), *span.events):
        if event.name in _INPUT:
            said.input.append(_read_message(event.attributes, _INPUT[event.name]))
        elif event.name == _CHOICE:
            inner = parse_attribute(event.attributes.get("message"), "message")
            held = inner if isinstance(inner, dict) else event.attributes
            said.output.append(_read_message(held, "assistant"))
        elif event.name in _WHOLE:
            name, usual = _WHOLE[event.name]
            (said.input if usual == "user" else said.output).extend(
                _read_whole(event.attributes.get(name), usual)
            )
    return said if said.input or said.output else None


def _read_listed(value: JSON) -> Iterable[SpanEvent]:
    items = parse_attribute(value, "events")
    for each in items if isinstance(items, list) else ():
        if isinstance(each, dict) and isinstance(each.get("event.name"), str):
            yield SpanEvent(str(each["event.name"]), each)


def _read_message(held: dict[str, Any], usual: str) -> SaidMessage:
    role = speaker_of(held.get("role"), usual)
    calls = parse_attribute(held.get("tool_calls"), "tool_calls")
    listed = calls if isinstance(calls, list) else []
    made = [_read_call(each) for each in listed if isinstance(each, dict)]
    message = message_of(role, held.get("content"), made)
    id = held.get("id", held.get("tool_call_id"))
    return {**message, "tool_call_id": id} if role == "tool" and isinstance(id, str) else message


def _read_call(raw: dict[str, Any]) -> dict[str, Any]:
    function = raw.get("function")
    held = function if isinstance(function, dict) else raw
    return call_of(held.get("name"), held.get("arguments"), raw.get("id"))


def _read_whole(value: JSON, usual: str) -> list[SaidMessage]:
    """A text, or JSON with messages in it."""
    try:
        items = parse_attribute(value, "")
    except ValueError:
        items = None
    if isinstance(items, list) and items and all(isinstance(each, dict) for each in items):
        return [_read_message(each, usual) for each in items if isinstance(each, dict)]
    return [message_of(usual, value, [])] if isinstance(value, str) else []
