"""How a reply ended, as it says itself: beside its message, or in place of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from evalcase.errors import TargetError
from evalcase.targets.base import part_of
from evalcase.types.message import text_of
from evalcase.types.value import JSON
from evalcase.util.answers import finish_reason_of, kind_of_end
from evalcase.util.json import BadJsonError, parse_json

_INNER = ("delta", "response", "message", "messageStop", "choices", "candidates", "messages")
"""Keys of a reply or an event that hold what is said of the whole."""
_REPLY_KEYS = frozenset({
    "role", "content", "text", "message", "messages", "usage", "model", "response_metadata",
    "parts", "answer", "finishMessage", "output", "response", "result", "completion",
    "finish_reason", "finishReason", "promptFeedback",
})  # fmt: skip
"""Only beside one of these is `stop_reason` the reason for the end of a reply: data may have it."""


def find_end(value: JSON) -> str | None:
    """The reason for the end that a reply has, or the last of its events with one."""
    events = value if isinstance(value, list) else [_parse_last(value)]
    return next((each for event in reversed(events) for each in _list_reasons(event)), None)


def find_end_at(value: JSON, steps: Iterable[str]) -> str | None:
    """The reason for the end on the way of a path to the answer. Raise TargetError where the reply
    says that it failed."""
    found = None
    for step in (*steps, ""):
        if isinstance(value, dict):
            refuse_failed(value)
            found = next(_reasons_of(value), found)
            value = value.get(step)
            continue
        try:
            value = value[int(step)] if isinstance(value, list) else None
        except (ValueError, IndexError):
            break
    return found


def is_broken_off(events: list[JSON]) -> bool:
    """Whether a stream of a known service stops before it says how it ended."""
    kinds, end = [str(part_of(each).get("type")) for each in events], find_end(events)
    is_known = any(each == "message_start" or each.startswith("response.") for each in kinds)
    keys = ("choices", "candidates")
    is_known = is_known or any(part_of(each).get(key) for each in events for key in keys)
    return is_known and "message_stop" not in kinds and kind_of_end(end or "queued") == "unfinished"


def _list_reasons(value: JSON) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    if not _REPLY_KEYS.isdisjoint(value):
        yield from _reasons_of(value)
    for key in _INNER:
        inner = value.get(key)
        if isinstance(inner, list) and inner:
            inner = inner[-1 if key == "messages" else 0]
        if isinstance(inner, dict):
            yield from _reasons_of(inner)


def _reasons_of(value: Mapping[str, Any]) -> Iterator[str]:
    reasons = [finish_reason_of(value)]
    if value.get("object") == "response":
        details = value.get("incomplete_details")
        reasons.append(details.get("reason") if isinstance(details, dict) else value.get("status"))
    reasons.append(part_of(value, "promptFeedback").get("blockReason"))
    status = value.get("status")
    if isinstance(value.get("messages"), list) and isinstance(status, str) and kind_of_end(status):
        reasons.append(status)
    yield from (reason for reason in reasons if isinstance(reason, str))


def refuse_failed(value: JSON) -> None:
    """Raise TargetError for a reply that says itself that it failed, or holds no answer; also as a
    list of events, or as text of JSON lines, whose last one says so."""
    if isinstance(value, list):
        value = value[-1] if value and isinstance(value[-1], dict) and "type" in value[-1] else None
    value = _parse_last(value)
    why = _find_failure(value) if isinstance(value, dict) else None
    if why is not None:
        raise TargetError(f"the reply is no answer: {why!s:.500}", kind="protocol")


def _parse_last(value: JSON) -> JSON:
    """The object in the last line of a text of JSON objects; any other value as it is."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    with suppress(BadJsonError):
        return parse_json(value.rstrip().rsplit("\n", 1)[-1])
    return value


def _find_failure(value: Mapping[str, Any]) -> str | None:
    error, status = value.get("error"), value.get("status")
    said = part_of(error).get("message") or error
    match value:
        case (
            {"choices": [{"message": _}, *_]}
            | {"candidates": [{"content": _}, *_]}
            | {"output": [{"type": _}, *_]}
            | {"object": "response"}
            | {"messages": [*_]}
            | {"type": "message", "role": "assistant"}
        ) if error:
            return f"it failed: {said}"
        case {"type": "error" | "turn.failed" | "RUN_ERROR", "error": {}}:
            return f"it failed: {said}"
        case {"messages": [*_]} if kind_of_end(str(status)) in ("failed", "unfinished"):
            return f"its `status` is `{status}`"
        case {"type": "result", "is_error": True}:  # Claude Code
            return f"it failed: {value.get('result') or value.get('subtype')}"
        case {"type": "result", "status": "error"}:  # Gemini CLI
            return f"it failed: {error}"
        case {"isError": True, "content": [*content]}:  # MCP
            return f"it failed: {text_of(content)}"
        case {"object": "chat.completion"} if not value.get("choices"):
            return "it has no `choices`"
        case {"usageMetadata": _, "modelVersion": _}:
            has_candidates = value.get("candidates") or "promptFeedback" in value
            return None if has_candidates else "it has no `candidates`"
    return None
