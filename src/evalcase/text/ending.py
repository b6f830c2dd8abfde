"""How an answer ended, as its last message says it, and what that means for graders.

An answer that was cut off is graded, with a warning. One that the provider blocked can only be
graded by `finish`. One that is unfinished, or failed, is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.message import parts_of

EndKind = Literal["cut off", "blocked", "unfinished", "failed"]

_ENDS: dict[EndKind, tuple[str, ...]] = {
    "cut off": (
        "length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "incomplete",
        "model_length", "token_limit",
    ),
    "blocked": (
        "content_filter", "content_filtered", "guardrail_intervened", "refusal", "safety",
        "image_safety", "prohibited_content", "image_prohibited_content", "blocklist", "spii",
        "image_other", "image_recitation",
        "recitation", "language", "model_armor", "blocked", "error_toxic",
    ),
    "unfinished": ("cancelled", "canceled", "in_progress", "queued", "pending", "pause_turn"),
    "failed": (
        "error", "failed", "malformed_function_call", "unexpected_tool_call",
        "too_many_tool_calls", "malformed_tool_use", "malformed_model_output",
        "malformed_response", "missing_thought_signature", "no_image", "abort",
    ),
}  # fmt: skip
"""Reasons as OpenAI, Anthropic, Gemini, Bedrock and the AI SDK name them, in small letters."""
_KINDS = {reason: kind for kind, reasons in _ENDS.items() for reason in reasons}
_REASONS = ("finish_reason", "stop_reason", "finishReason", "stopReason")


class Ending(NamedTuple):
    reason: str | None
    """`stop`, `length` and the like; None if the target doesn't say."""
    refusal: JSON
    """What the model said when it refused, or the reason that means so; None if it didn't."""

    @property
    def kind(self) -> EndKind | None:
        """What the reason means, where the answer did not come to its own end."""
        return kind_of_end(self.reason)


def kind_of_end(reason: str | None) -> EndKind | None:
    if reason == "OTHER":  # Gemini stopped, and doesn't say why
        return "blocked"
    if reason is None:
        return None
    name = reason.rpartition(".")[2]  # `FinishReason.SAFETY`, as Python writes one
    return _KINDS.get(name.lower().replace("-", "_"))


def finish_reason_of(said: Mapping[str, Any]) -> str | None:
    """The reason that a message or a reply names, as libraries call it."""
    about = said.get("response_metadata")  # where LangChain has it
    places = (said, about) if isinstance(about, dict) else (said,)
    reasons = (place.get(name) for place in places for name in _REASONS)
    return next((each for each in reasons if isinstance(each, str)), None)


def read_ending(answer: Answer) -> Ending:
    """What the last message of the assistant says of its end."""
    said = [message for message in answer.last if message.role == "assistant"]
    if not said:
        return Ending(None, None)
    reason = finish_reason_of(said[-1])
    refusal = said[-1].get("refusal") or _refusal_in(said[-1].content)
    return Ending(reason, refusal or (reason if kind_of_end(reason) == "blocked" else None))


def find_block(answer: Answer) -> str | None:
    """The reason by which the provider blocked an answer, or a turn of a conversation."""
    messages = answer.messages if answer.last_at else answer.last
    said = [message for message in messages if message.role == "assistant"]
    ends = said if answer.last_at else said[-1:]
    reasons = (finish_reason_of(message) for message in ends)
    return next((each for each in reasons if kind_of_end(each) == "blocked"), None)


def _refusal_in(content: JSON) -> JSON:
    """What a content part says that is a refusal."""
    parts = [part for part in parts_of(content) if part["type"] == "refusal"]
    return parts[0].get("refusal") or "refusal" if parts else None
