"""Parts of a reply that say by a key what they are, as Gemini's and Bedrock's, to typed blocks.

`{text}` becomes `{type: text}`. Any other part keeps all that it has, and gets its key for a type,
but for calls, which are taken out of the content later. What is null in a part says nothing:
libraries write every key that there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from evalcase.errors import TargetError
from evalcase.targets.reading.usage import read_usage
from evalcase.types.answer import Usage
from evalcase.types.message import OTHER_ROLES
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.answers import finish_reason_of, kind_of_end
from evalcase.util.calls import is_call_block

_ROLES = ("model", "user", "function", "assistant")


def type_parts(parts: list[JSON]) -> list[JSON]:
    """The same parts, each with a type, but for calls."""
    return [type_part(part) if isinstance(part, dict) else part for part in parts]


def is_turn(value: JSON) -> bool:
    """Whether a value is a message in Gemini's form: a role of theirs, and parts without a type.
    Those of others have types of which nobody knows here whether they are calls."""
    if not isinstance(value, dict) or value.get("role") not in _ROLES or "content" in value:
        return False
    parts = value.get("parts")
    return is_parts(parts) and not any("type" in part for part in parts)


def is_parts(value: JSON) -> TypeGuard[list[dict[str, JSON]]]:
    return isinstance(value, list) and all(isinstance(part, dict) for part in value)


def read_turn(turn: dict[str, Any]) -> dict[str, Any]:
    """Such a message as one of ours; every other key is kept."""
    role = OTHER_ROLES.get(turn["role"], turn["role"])
    rest = {key: item for key, item in turn.items() if key not in ("role", "parts")}
    return {"role": role, "content": type_parts(turn["parts"]) or None, **rest}


def is_converse(message: JSON) -> bool:
    """Whether a message is plainly of Bedrock: a part of it is a call or a result in that form."""
    parts = message.get("content") if isinstance(message, dict) else None
    return is_parts(parts) and any("toolUse" in part or "toolResult" in part for part in parts)


def type_content(message: JSON) -> JSON:
    """A message of Bedrock with a type for each of its parts."""
    parts = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not is_parts(parts):
        return message
    return {**message, "content": type_parts(list(parts))}


def find_candidate(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in Gemini's `candidates`, with how it ended; None if there is none."""
    candidates = value.get("candidates")
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
        return _find_blocked(value)
    content = candidates[0].get("content")
    reason = finish_reason_of(candidates[0])
    if content in (None, {}) and reason is not None:
        content = {"role": "model"}  # it ended before it began
    if not isinstance(content, dict) or content.get("role") != "model":
        return None
    if len(candidates) > 1:
        what = f"the answer has {len(candidates)} `candidates`, and one can be graded"
        raise TargetError(f"{what}: return the `content` of that one", kind="protocol")
    # A reply that was cut off before it began has no parts.
    turn = {**content, "parts": content.get("parts") or []}
    if not is_turn(turn):
        return None
    return read_turn(turn) if reason is None else {**read_turn(turn), "finish_reason": reason}


def _find_blocked(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message of a reply that has none, because the prompt was blocked."""
    feedback = value.get("promptFeedback", value.get("prompt_feedback"))
    if not isinstance(feedback, dict):
        return None
    reason = feedback.get("blockReason", feedback.get("block_reason"))
    if not isinstance(reason, str):
        return None
    reason = reason if kind_of_end(reason) == "blocked" else "blocked"
    return {"role": "assistant", "content": None, "finish_reason": reason, "feedback": feedback}


def read_gemini_usage(value: JSON, warn: Warn) -> Usage | None:
    """Tokens as Gemini counts them: what was thought was put out, too."""
    if not isinstance(value, dict):
        return None
    said = _find_count(value, "candidatesTokenCount", "candidates_token_count")
    thought = _find_count(value, "thoughtsTokenCount", "thoughts_token_count")
    is_known = isinstance(said, int) and isinstance(thought, int | None)
    counts: dict[str, JSON] = {
        "input_tokens": _find_count(value, "promptTokenCount", "prompt_token_count"),
        "output_tokens": said + (thought or 0) if is_known else said,
        "cached_tokens": _find_count(
            value, "cachedContentTokenCount", "cached_content_token_count"
        ),
    }
    return read_usage(counts, warn)


def _find_count(value: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 - held to its type later
    return next((value[name] for name in names if value.get(name) is not None), None)


def type_part(part: dict[str, Any]) -> dict[str, Any]:
    """A part with a type, which may be one already."""
    if isinstance(part.get("type"), str) or is_call_block(part):
        return part
    said = {key: item for key, item in part.items() if item is not None}
    if isinstance(said.get("text"), str) and not said.get("thought"):
        return {"type": "text", **said}
    # A thought is no part of what is said.
    return {"type": "thought" if said.get("thought") else next(iter(said), "empty"), **said}
