"""How an answer ended, what it holds as text or JSON, and words for an answer without text.

An answer that was cut off is graded, with a warning. One that the provider blocked can only be
graded by `finish`. One that is unfinished, or failed, is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from evalcase.types.answer import Answer
from evalcase.types.message import parts_of, said_text, text_of
from evalcase.types.value import JSON, measure_depth
from evalcase.util.json import DEEPEST, BadJsonError, parse_json
from evalcase.util.text import (
    as_json,
    call_lines,
    content_text,
    name_blank,
    shorten_text,
    value_as_text,
)

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
"""Reasons of OpenAI, Anthropic, Gemini, Bedrock and the AI SDK, in lower case."""
_KINDS = {reason: kind for kind, reasons in _ENDS.items() for reason in reasons}
_REASONS = ("finish_reason", "stop_reason", "finishReason", "stopReason")
_ABOUT = "response_metadata"  # LangChain
_SAID_OF_END = frozenset({*_REASONS, _ABOUT, "refusal"})


class Ending(Struct, frozen=True):
    reason: str | None
    """`stop`, `length` and the like; None if the target doesn't say."""
    refusal: JSON
    """The refusal of the model, or the reason that means one; None if it did not refuse."""

    @property
    def kind(self) -> EndKind | None:
        """What the reason means; None for an answer that came to its own end."""
        return kind_of_end(self.reason)


_UNTOLD = Ending(None, None)


def kind_of_end(reason: str | None) -> EndKind | None:
    if reason == "OTHER":  # Gemini gives no reason
        return "blocked"
    if reason is None:
        return None
    name = reason.rpartition(".")[2]  # `FinishReason.SAFETY`, as Python writes one
    return _KINDS.get(name.lower().replace("-", "_"))


def finish_reason_of(said: Mapping[str, Any]) -> str | None:
    """The reason in a message or a reply, under the names of the usual libraries."""
    if said.keys().isdisjoint(_SAID_OF_END):
        return None
    about = said.get(_ABOUT)
    places = (said, about) if isinstance(about, dict) else (said,)
    found = (place.get(name) for place in places for name in _REASONS)
    return next((reason for reason in found if isinstance(reason, str)), None)


def read_ending(answer: Answer) -> Ending:
    """The end of the last message of the assistant."""
    for message in reversed(answer.messages[answer.last_at :]):
        if message["role"] == "assistant":
            break
    else:
        return _UNTOLD
    content = message.get("content")
    if len(message) == 2 and isinstance(content, str):  # it has nothing but that text
        return _UNTOLD
    reason, refusal = finish_reason_of(message), message.get("refusal")
    if not isinstance(content, str):
        for part in parts_of(content):
            if part["type"] == "refusal":
                refusal = refusal or part.get("refusal") or "refusal"
    if not refusal:
        refusal = reason if reason is not None and kind_of_end(reason) == "blocked" else None
    return Ending(reason, refusal)


def find_block(answer: Answer) -> str | None:
    """The reason why the provider blocked an answer, or a turn of a conversation."""
    for message in reversed(answer.messages):
        if message["role"] == "assistant":
            reason = finish_reason_of(message)
            if reason is not None and kind_of_end(reason) == "blocked":
                return reason
            if not answer.last_at:  # only a conversation has turns before the last message
                break
    return None


_MOST_SAID, _SHORT = 120, 80
"""Characters of the rest of a sentence, and of a quotation."""
NO_TEXT = "(no text)"
"""Stands for the text of an answer that has only calls."""

Spoken = Sequence[Mapping[str, JSON]]


def name_missing_text(messages: Spoken) -> str:
    """A description in brackets, shown beside the tool calls; empty where there is a text."""
    shown = shown_content(messages)
    if shown:
        return name_blank(shown)
    if instead := _describe_end(messages):
        return f"(no text, but {shorten_text(instead, 400)})"
    return NO_TEXT if any(line for each in messages for line in call_lines(each)) else "(empty)"


def shown_content(messages: Spoken) -> str | None:
    """The last content of the assistant as people see it; None where there is none."""
    said = (each.get("content") for each in reversed(messages) if each.get("role") == "assistant")
    content = next((each for each in said if each is not None), None)
    return None if content is None else content_text(content)


def describe_missing_text(messages: Spoken, text: str) -> str:
    """A description in a sentence, for a blank `text`."""
    instead = describe_instead(messages)
    if text.strip():
        return f"no text, but {shorten_text(text, _MOST_SAID)}"  # an empty list, for example
    if text:
        return f"only white space: {as_json(shorten_text(text, _SHORT))}{instead}"
    is_there = shown_content(messages) is not None
    return "an empty text" if is_there and not instead else f"no text{instead}"


def describe_instead(messages: Spoken) -> str:
    """The rest of a sentence that says that there is no text: `, but tool calls: …`."""
    instead = (shown_content(messages) or "").strip() or _describe_end(messages)
    calls = [line for message in messages for line in call_lines(message)]
    if calls and not instead:
        more = f" and {len(calls) - 1:,} more" if len(calls) > 1 else ""
        instead = f"tool calls: {shorten_text(calls[0], _SHORT)}{more}"
    return f", but {shorten_text(instead, _MOST_SAID)}" if instead else ""


def _describe_end(messages: Spoken) -> str:
    """The refusal of the assistant, or why it ended early."""
    message = next((each for each in reversed(messages) if each.get("role") == "assistant"), {})
    if refusal := message.get("refusal"):
        return f"a refusal: {value_as_text(refusal)}"
    reason = finish_reason_of(message)
    return f"finish_reason: {reason}" if kind_of_end(reason) is not None else ""


_INVISIBLE = " \t\r\n\u200b\u200c\u200d\u2060\ufeff"
_LANGUAGE = re.compile(r"[\w.+#-]*")


def value_of_answer(answer: Answer) -> JSON:
    """The JSON value of an answer. Raise BadJsonError, which describes it, where there is none."""
    content = answer.content
    text = text_of_content(content)
    # Mappings with other types are data, such as a list of `{type: Person}`.
    is_media = text is None and any(map(_is_known_part, text_parts(content)))
    if content is None or is_media:
        raise BadJsonError(f"it has no text{describe_instead(answer.last)}")
    if text is not None:
        return parse_answer(text)
    if too_deep(content):
        raise BadJsonError(f"it is nested more than {DEEPEST} deep")
    return content


def too_deep(value: JSON) -> bool:
    """Whether a value is nested deeper than a value of a suite can be."""
    return measure_depth(value, DEEPEST) > DEEPEST


def text_of_content(content: JSON) -> str | None:
    """Text as it is, parts as their joined text; None for parts without any text, and for data."""
    if isinstance(content, str):
        return content
    if any(said_text(part) is not None for part in text_parts(content)):
        return text_of(content)
    return None


def has_text(answer: Answer) -> bool:
    """Whether there is visible text, or data. Calls and parts without text don't count."""
    content = answer.content
    if content in (None, [], {}):
        return False
    text = text_of_content(content)
    return not text_parts(content) if text is None else not shows_nothing(text)


def shows_nothing(text: str) -> bool:
    return not text.strip() or not text.strip(_INVISIBLE)


def text_parts(content: JSON) -> list[dict[str, JSON]]:
    """The content parts, if it is a list of them."""
    return parts_of(content) if isinstance(content, list) else []


def is_comparable(content: JSON) -> bool:
    """Whether an answer can be compared with it. Files and images alone can't be compared."""
    if content is None or isinstance(content, str):
        return content is not None
    parts = text_parts(content)
    return not parts or any(part["type"] not in ("file", "image") for part in parts)


def parse_answer(text: str) -> JSON:
    """The value of a text that is JSON, or one fenced block with JSON in it."""
    return parse_json(unfence_text(text))


def unfence_text(text: str) -> str:
    """The inside of a text that is one fenced block (``` or ~~~); else the text. A fence may name a
    language, and nothing else."""
    text = text.strip()
    mark = text[:3]
    if mark not in ("```", "~~~"):
        return text
    fence = mark[0] * (len(text) - len(text.lstrip(mark[0])))
    first, line_end, inside = text.partition("\n")
    if line_end and inside.endswith(fence) and _LANGUAGE.fullmatch(first[len(fence) :].strip()):
        return inside[: -len(fence)]
    return text


_PARTS = frozenset({
    "text", "output_text", "file", "image", "image_url", "input_image", "input_text", "input_file",
    "audio", "input_audio", "document", "video", "refusal", "thinking", "redacted_thinking",
    "thought", "reasoning", "inlineData", "inline_data", "fileData", "executableCode",
    "executable_code", "empty", "reasoningContent", "tool_use", "toolUse",
})  # fmt: skip


def _is_known_part(part: Mapping[str, JSON]) -> bool:
    """Whether a part has a type of messages; data may have types, too."""
    kind = str(part.get("type"))
    return kind in _PARTS or kind.endswith(("_result", "-result", "Response", "Result"))
