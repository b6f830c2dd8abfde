"""How a reply ended, wherever its service says so: beside the message, or in place of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from evalcase.errors import TargetError
from evalcase.model.json_value import JSON
from evalcase.model.message import text_of
from evalcase.text.ending import finish_reason_of, kind_of_end
from evalcase.text.strict_json import BadJsonError, parse_object

_INNER = ("delta", "response", "message", "messageStop")
"""Where events have what they say of the whole."""


def find_end(value: JSON) -> str | None:
    """The reason by which a whole reply, or a list of its events, did not come to its own end; None
    where it did, or doesn't say."""
    events = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
    reason = next((each for event in reversed(events) for each in _list_reasons(event)), None)
    return reason if kind_of_end(reason) is not None else None


def is_broken_off(events: Iterable[JSON]) -> bool:
    """Whether a stream of a known service ends before it says how it ended."""
    is_known = False
    for event in events:
        if not isinstance(event, dict):
            continue
        if event.get("type") == "message_stop" or any(_list_reasons(event)):
            return False
        choices = event.get("choices")
        is_known = is_known or event.get("type") == "message_start" or bool(choices)
    return is_known


def refuse_failed_reply(value: Mapping[str, Any]) -> None:
    """Raise TargetError for a reply that says itself that it failed, or holds no answer."""
    error = value.get("error")
    is_reply = any(isinstance(value.get(key), list) for key in ("choices", "candidates", "output"))
    is_reply = is_reply or value.get("type") in ("message", "error", "turn.failed")
    if is_reply and error:
        said = error.get("message") if isinstance(error, dict) else None
        _refuse_reply(f"it failed: {said or error!s:.500}")
    if value.get("type") == "result" and value.get("is_error") is True:  # as Claude Code prints it
        _refuse_reply(f"it failed: {value.get('result') or value.get('subtype')!s:.500}")
    if value.get("type") == "result" and value.get("status") == "error":  # as Gemini CLI does
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


def _refuse_reply(why: str) -> None:
    raise TargetError(f"the reply is no answer: {why}", kind="protocol")


def _list_reasons(value: JSON) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    inner = [value, *(value.get(key) for key in _INNER)]
    for key in ("choices", "candidates"):
        several = value.get(key)
        inner += several[:1] if isinstance(several, list) else []
    for each in inner:
        if isinstance(each, dict):
            reasons = (finish_reason_of(each), _find_status(each), _find_block(each))
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
