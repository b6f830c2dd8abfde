"""Messages by OpenTelemetry's conventions: `gen_ai.input.messages`, `gen_ai.output.messages`, each
a list of messages made of parts, as JSON text, as a value, or as attributes of an event."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from evalcase.traces.dialects.said import (
    SaidMessage,
    SpanMessages,
    call_of,
    data_or_text,
    message_of,
    parse_attribute,
    speaker_of,
)
from evalcase.traces.span import BadTraceError, TraceSpan
from evalcase.types.value import JSON

INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_SYSTEM = "gen_ai.system_instructions"
_DETAILS = "gen_ai.client.inference.operation.details"


def read_conventions(span: TraceSpan) -> SpanMessages | None:
    """What was said; None where the span doesn't say it in this way."""
    told = [event.attributes for event in span.events if event.name == _DETAILS]
    for attributes in (span.attributes, *told):
        if INPUT in attributes or OUTPUT in attributes:
            return _read_attributes(attributes)
    return None


def _read_attributes(attributes: Mapping[str, JSON]) -> SpanMessages:
    given: list[SaidMessage] = []
    # What was given is a help and no answer: an answer isn't lost because it can't be read.
    with suppress(BadTraceError):
        given = [*_read_system(attributes), *_read_list(attributes, INPUT, "user")]
    return SpanMessages(given, _read_list(attributes, OUTPUT, "assistant"))


def _read_system(attributes: Mapping[str, JSON]) -> list[SaidMessage]:
    parts = parse_attribute(attributes.get(_SYSTEM), _SYSTEM)
    return _split_message({"role": "system", "parts": parts}, "system") if parts else []


def _read_list(attributes: Mapping[str, JSON], name: str, usual: str) -> list[SaidMessage]:
    items = parse_attribute(attributes.get(name), name)
    if items is None:
        return []
    if not isinstance(items, list):
        raise BadTraceError(f"`{name}` is not a list of messages")
    return [message for item in items for message in _split_message(item, usual)]


def _split_message(item: JSON, usual: str) -> list[SaidMessage]:
    """A message; the results of tools in it are messages of their own, whoever has the role."""
    if not isinstance(item, dict):
        raise BadTraceError("a message is an object with a `role` and `parts`")
    parts = item.get("parts")
    role = speaker_of(item.get("role"), usual)
    if not isinstance(parts, list):  # older forms have their content beside the role
        return [message_of(role, item.get("content"), [])]
    held = _Parts()
    for part in parts:
        held.add(part)
    return held.messages(role)


class _Parts:
    """The parts of a message, sorted by what becomes of them."""

    def __init__(self) -> None:
        self._content: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []
        self._thoughts: list[str] = []
        self._results: list[SaidMessage] = []

    def add(self, part: JSON) -> None:
        if not isinstance(part, dict):
            raise BadTraceError("a part of a message is an object with a `type`")
        content = part.get("content")
        match part.get("type"):
            case "text":
                text = content if isinstance(content, str) else ""
                self._content.append({"type": "text", "text": text})
            case "tool_call":
                call = call_of(part.get("name"), part.get("arguments"), part.get("id"))
                self._calls.append(call)
            case "tool_call_response":
                result = data_or_text(part.get("response", part.get("result")))
                told = {"role": "tool", "content": result, "tool_call_id": part.get("id")}
                self._results.append(told)
            case "reasoning" | "thinking":
                self._thoughts.append(content if isinstance(content, str) else "")
            case kind:
                self._content.append({**part, "type": kind if isinstance(kind, str) else "other"})

    def messages(self, role: str) -> list[SaidMessage]:
        """What it comes to: results of tools first, and then the message, if there is one."""
        if self._results and not (self._content or self._calls or self._thoughts):
            return self._results
        content: JSON = list(self._content)
        if all(each["type"] == "text" for each in self._content):
            content = "".join(each["text"] for each in self._content) if self._content else None
        message = message_of(role, content, self._calls)
        if self._thoughts:
            message["reasoning"] = "".join(self._thoughts)
        return [*self._results, message]
