"""How a reply ended, wherever its service says so: beside the message, or in place of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalcase.errors import TargetError
from evalcase.model.json_value import JSON
from evalcase.text.ending import finish_reason_of, kind_of_end

_LONGEST = 500


def find_end(value: JSON) -> str | None:
    """The reason in a whole reply, or in an event of one, by which it did not come to its own end;
    None where it did, or doesn't say."""
    reasons = _list_reasons(value) if isinstance(value, dict) else ()
    return next((each for each in reasons if kind_of_end(each) is not None), None)


def refuse_failed_reply(value: Mapping[str, Any]) -> None:
    """Raise TargetError for a reply that says itself that it failed, whatever else it holds."""
    error = value.get("error")
    is_reply = any(isinstance(value.get(key), list) for key in ("choices", "candidates", "output"))
    is_reply = is_reply or value.get("type") in ("message", "error", "turn.failed")
    if is_reply and error:
        said = error.get("message") if isinstance(error, dict) else None
        raise TargetError(f"the reply says that it failed: {said or error!s:.500}", kind="protocol")
    if value.get("type") == "result" and value.get("is_error") is True:  # as Claude Code prints it
        said = str(value.get("result") or value.get("subtype"))[:_LONGEST]
        raise TargetError(f"the reply says that it failed: {said}", kind="protocol")


def _list_reasons(value: Mapping[str, Any]) -> list[str]:
    inner = [value, value.get("delta"), value.get("response"), value.get("message")]
    for key in ("choices", "candidates"):
        several = value.get(key)
        inner += several[:1] if isinstance(several, list) else []
    places = [each for each in inner if isinstance(each, dict)]
    reasons = [finish_reason_of(each) for each in places]
    for each in places:
        if each.get("object") == "response":
            details = each.get("incomplete_details")
            reasons += [details.get("reason") if isinstance(details, dict) else each.get("status")]
        feedback = each.get("promptFeedback")
        reasons += [feedback.get("blockReason") if isinstance(feedback, dict) else None]
    return [each for each in reasons if isinstance(each, str)]
