"""How an answer ended, as its last message tells it by the names that are in use."""

from __future__ import annotations

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.message import parts_of
from evalcase.model.quick_tuple import NamedTuple

_REFUSALS = frozenset({
    "refusal", "content_filter", "content-filter", "content_filtered", "guardrail_intervened",
    "safety", "prohibited_content", "blocklist", "spii",
})  # fmt: skip
"""Reasons for the end by which a model refuses, or is kept from answering, in small letters: those
of OpenAI and Anthropic, of the AI SDK, of Bedrock and of Gemini."""


class Ending(NamedTuple):
    reason: str | None
    """`stop`, `length` and the like; None if the target doesn't say."""
    refusal: JSON
    """What the model said when it refused, or the reason that means so; None if it didn't."""


def read_ending(answer: Answer) -> Ending:
    """What the last message of the assistant says of its end."""
    said = [message for message in answer.last if message.role == "assistant"]
    if not said:
        return Ending(None, None)
    given = said[-1].get("finish_reason", said[-1].get("stop_reason"))
    reason = given if isinstance(given, str) else None
    refusal = said[-1].get("refusal") or _refusal_in(said[-1].content)
    return Ending(reason, refusal or (reason if (reason or "").lower() in _REFUSALS else None))


def _refusal_in(content: JSON) -> JSON:
    """What a content part says that is a refusal."""
    parts = [part for part in parts_of(content) if part["type"] == "refusal"]
    return parts[0].get("refusal") or "refusal" if parts else None
