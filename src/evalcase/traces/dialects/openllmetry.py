"""Messages as openllmetry flattened them: `gen_ai.prompt.0.content`, `gen_ai.completion.0.role`."""

from __future__ import annotations

from evalcase.traces.dialects.said import (
    SaidMessage,
    SpanMessages,
    call_of,
    data_or_text,
    group_numbered,
    message_of,
    read_numbered,
    speaker_of,
)
from evalcase.traces.span import TraceSpan
from evalcase.types.value import JSON

_INPUT, _OUTPUT = "gen_ai.prompt", "gen_ai.completion"


def read_openllmetry(span: TraceSpan) -> SpanMessages | None:
    """What was said; None where the span doesn't say it in this way."""
    return read_numbered(span.attributes, _INPUT, _OUTPUT, _read_message)


def _read_message(held: dict[str, JSON], usual: str) -> SaidMessage:
    role = speaker_of(held.get("role"), usual)
    calls = [
        call_of(each.get("name"), each.get("arguments"), each.get("id"))
        for each in group_numbered(held, "tool_calls")
    ]
    message = message_of(role, _read_content(held.get("content")), calls)
    id = held.get("tool_call_id")
    return {**message, "tool_call_id": id} if role == "tool" and id else message


def _read_content(value: JSON) -> JSON:
    """Text; content that is made of parts is written as JSON of them."""
    parts = data_or_text(value)
    if not isinstance(parts, list) or not all(
        isinstance(each, dict) and isinstance(each.get("type"), str) for each in parts
    ):
        return value
    texts = [each.get("text") for each in parts if isinstance(each, dict)]
    return "".join(map(str, texts)) if all(isinstance(each, str) for each in texts) else parts
