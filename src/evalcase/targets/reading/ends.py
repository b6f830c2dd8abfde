"""How a reply ended, wherever its service says so: beside the message, or in place of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from evalcase.errors import TargetError
from evalcase.types.message import text_of
from evalcase.types.value import JSON
from evalcase.util.answers import finish_reason_of, kind_of_end
from evalcase.util.json import BadJsonError, parse_object

_INNER = ("delta", "response", "message", "messageStop")
"""Where events have what they say of the whole."""
_OF_REPLIES = frozenset({
    "role", "content", "text", "message", "messages", "usage", "model", "response_metadata",
    "parts", "answer", "finishMessage",
})  # fmt: skip
"""Keys that a reply has: data may have a `stop_reason` of anything."""
_FAILED_TYPES = ("error", "turn.failed", "RUN_ERROR")


def find_end(value: JSON) -> str | None:
    """The reason by which a whole reply, or a list of its events, did not come to its own end; None
    where it did, or doesn't say."""
    reason = find_last_reason(value if isinstance(value, list) else [value])
    return reason if kind_of_end(reason) is not None else None


def find_last_reason(events: list[JSON]) -> str | None:
    """How the last of some events that says so has it end, well or not."""
    return next((each for event in reversed(events) for each in _list_reasons(event)), None)


def find_end_at(value: JSON, steps: Iterable[str]) -> str | None:
    """How a reply ended in which a path leads to the answer: what is said on the way to it. Raise
    TargetError where that says that the reply failed."""
    found = None
    for step in (*steps, None):
        if isinstance(value, dict):
            refuse_failed_reply(value)
            said = (finish_reason_of(value), _find_status(value), _find_block(value))
            found = next((each for each in said if isinstance(each, str)), found)
        value = _go_down(value, step)
    return found


def is_broken_off(events: Iterable[JSON]) -> bool:
    """Whether a stream of a known service ends before it says how it ended."""
    is_known = False
    for event in events:
        if not isinstance(event, dict):
            continue
        kind = str(event.get("type"))
        reasons = (kind_of_end(each) for each in _list_reasons(event))
        if kind == "message_stop" or any(each != "unfinished" for each in reasons):
            return False
        is_service = kind == "message_start" or kind.startswith("response.")
        is_known = is_known or is_service or bool(event.get("choices") or event.get("candidates"))
    return is_known


def refuse_failed_reply(value: Mapping[str, Any]) -> None:
    """Raise TargetError for a reply that says itself that it failed, or holds no answer."""
    error, kind = value.get("error"), value.get("type")
    if error and (_is_reply(value) or (kind in _FAILED_TYPES and isinstance(error, dict))):
        said = error.get("message") if isinstance(error, dict) else None
        _refuse_reply(f"it failed: {said or error!s:.500}")
    if kind == "result" and value.get("is_error") is True:  # as Claude Code prints it
        _refuse_reply(f"it failed: {value.get('result') or value.get('subtype')!s:.500}")
    if kind == "result" and value.get("status") == "error":  # as Gemini CLI does
        _refuse_reply(f"it failed: {error!s:.500}")
    if value.get("isError") is True and isinstance(value.get("content"), list):  # MCP
        _refuse_reply(f"it failed: {text_of(value['content'])!s:.500}")
    if value.get("object") == "chat.completion" and not value.get("choices"):
        _refuse_reply("it has no `choices`")
    is_gemini = "usageMetadata" in value and "modelVersion" in value
    if is_gemini and not value.get("candidates") and "promptFeedback" not in value:
        _refuse_reply("it has no `candidates`")


def refuse_failed_transcript(text: str) -> None:
    """Raise TargetError for JSON lines of an agent whose last says that it failed."""
    last = text.rstrip().rsplit("\n", 1)[-1]
    if text.startswith("{") and last.startswith("{"):
        with suppress(BadJsonError):
            refuse_failed_reply(parse_object(last))


def find_end_of_text(text: str) -> str | None:
    """How a reply ended that is given as the text of its JSON."""
    if text.startswith("{"):
        with suppress(BadJsonError):
            return find_end(parse_object(text))
    return None


def refuse_failed_events(events: list[JSON]) -> None:
    """Raise TargetError for a list of an agent's events whose last says that it failed."""
    if events and isinstance(events[-1], dict) and "type" in events[-1]:
        refuse_failed_reply(events[-1])


def _refuse_reply(why: str) -> None:
    raise TargetError(f"the reply is no answer: {why}", kind="protocol")


def _is_reply(value: Mapping[str, Any]) -> bool:
    for key, inside in (("choices", "message"), ("candidates", "content"), ("output", "type")):
        several = value.get(key)
        if isinstance(several, list) and several and isinstance(several[0], dict):
            return inside in several[0]
    if value.get("object") == "response":
        return True
    return value.get("type") == "message" and value.get("role") == "assistant"


def _list_reasons(value: JSON) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    inner = [value, *(value.get(key) for key in _INNER)]
    for key in ("choices", "candidates", "messages"):
        several = value.get(key)
        at = -1 if key == "messages" else 0
        inner += [several[at]] if isinstance(several, list) and several else []
    for each in inner:
        if isinstance(each, dict):
            is_said = each is not value or not _OF_REPLIES.isdisjoint(each)
            reason = finish_reason_of(each) if is_said else None
            reasons = (reason, _find_status(each), _find_block(each))
            yield from (reason for reason in reasons if isinstance(reason, str))


def _find_status(value: Mapping[str, Any]) -> JSON:
    """How OpenAI's Responses API says it."""
    if value.get("object") != "response":
        return None
    details = value.get("incomplete_details")
    return details.get("reason") if isinstance(details, dict) else value.get("status")


def _find_block(value: Mapping[str, Any]) -> JSON:
    feedback = value.get("promptFeedback")
    return feedback.get("blockReason") if isinstance(feedback, dict) else None


def _go_down(value: JSON, step: str | None) -> JSON:
    if isinstance(value, dict) and step is not None:
        return value.get(step)
    if isinstance(value, list) and step is not None and step.lstrip("-").isdigit():
        return value[int(step)] if -len(value) <= int(step) < len(value) else None
    return None
