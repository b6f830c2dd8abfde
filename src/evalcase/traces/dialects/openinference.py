"""Messages as openinference flattens them: `llm.output_messages.0.message.content`."""

from __future__ import annotations

from evalcase.traces.dialects.said import (
    SaidMessage,
    SpanMessages,
    call_of,
    group_numbered,
    message_of,
    read_numbered,
    speaker_of,
)
from evalcase.traces.span import TraceSpan
from evalcase.types.value import JSON

_INPUT, _OUTPUT = "llm.input_messages", "llm.output_messages"


def read_openinference(span: TraceSpan) -> SpanMessages | None:
    """What was said; None where the span doesn't say it in this way."""
    return read_numbered(span.attributes, _INPUT, _OUTPUT, _read_message)


def _read_message(held: dict[str, JSON], usual: str) -> SaidMessage:
    role = speaker_of(held.get("message.role"), usual)
    calls = [
        call_of(
            each.get("tool_call.function.name"), each.get("tool_call.function.arguments"),
            each.get("tool_call.id"),
        )
        for each in group_numbered(held, "message.tool_calls")
    ]  # fmt: skip
    message = message_of(role, _read_content(held), calls)
    id = held.get("message.tool_call_id")
    return {**message, "tool_call_id": id} if role == "tool" and id else message


def _read_content(held: dict[str, JSON]) -> JSON:
    if "message.content" in held:
        return held["message.content"]
    parts = group_numbered(held, "message.contents")
    texts = [each.get("message_content.text") for each in parts]
    kept = [each for each in texts if isinstance(each, str)]
    if len(kept) == len(parts):
        return "".join(kept) if kept else None
    return [
        {"type": "text", "text": text}
        if isinstance(text, str)
        else {"type": str(part.get("message_content.type") or "other"), **part}
        for part, text in zip(parts, texts, strict=True)
    ]
