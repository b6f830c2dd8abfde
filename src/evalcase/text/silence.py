"""What stands for an answer in which no text can be seen.

All that shows answers, and every reason of a grader, takes it from here: an answer is called empty
only where there was nothing, and else what it has in the place of a text is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalcase.model.json_value import JSON
from evalcase.text.abridge import shorten_text
from evalcase.text.readable import as_json, call_lines, content_text
from evalcase.text.visible import name_blank

_LONGEST, _MOST_SAID, _SHORT = 400, 120, 80
"""Characters: of what is told to people who see no more of it, of what a sentence goes on with, and
of what it quotes."""
_TELLS_NOTHING = frozenset({
    "role", "content", "tool_calls", "refusal", "id", "name", "type", "model", "index", "created",
    "tool_call_id",
})  # fmt: skip
"""Keys of messages that are told elsewhere, or only name things."""
_USUAL_ENDS = frozenset({"stop", "end_turn", "stop_sequence"})
_ENDS_OF_CALLS = frozenset({"tool_calls", "tool_use", "function_call"})
"""How an answer ends that is nothing but calls: the calls say as much."""
_ENDS = frozenset({"finish_reason", "stop_reason"})

NO_TEXT = "(no text)"
"""What stands for a text where there is nothing but calls."""

Spoken = Sequence[Mapping[str, JSON]]


def name_silence(messages: Spoken) -> str:
    """In brackets, for people who see its tool calls as well; empty where there is a text."""
    shown = shown_content(messages) or ""
    if shown.strip():
        return ""
    instead = next(_tell_others(messages), "")
    if instead:
        return (
            f"({name_blank(shown, 'no text').strip('()')}, but {shorten_text(instead, _LONGEST)})"
        )
    called = any(True for _ in _list_calls(messages))
    return name_blank(shown, NO_TEXT if called else "(empty)")


def shown_content(messages: Spoken) -> str | None:
    """The last content of the assistant as people see it; None where there is none."""
    for message in reversed(messages):
        if message.get("role") == "assistant" and message.get("content") is not None:
            return content_text(message["content"])
    return None


def say_silence(messages: Spoken, text: str) -> str:
    """In a sentence, for a `text` in which nothing can be seen."""
    instead = but_instead(messages)
    if text:
        return f"only white space: {as_json(shorten_text(text, _SHORT))}{instead}"
    is_there = shown_content(messages) is not None
    return "an empty text" if is_there and not instead else f"no text{instead}"


def but_instead(messages: Spoken) -> str:
    """How a sentence goes on that says that there is no text: with what there is in its place."""
    shown = (shown_content(messages) or "").strip()
    instead = shown or _tell_calls(messages) or next(_tell_others(messages), "")
    return f", but {shorten_text(instead, _MOST_SAID)}" if instead else ""


def _tell_calls(messages: Spoken) -> str:
    calls = list(_list_calls(messages))
    if not calls:
        return ""
    more = f" and {len(calls) - 1:,} more" if len(calls) > 1 else ""
    return f"{'tool calls' if more else 'a tool call'}: {shorten_text(calls[0], _SHORT)}{more}"


def _list_calls(messages: Spoken) -> Iterator[str]:
    return (line for message in messages for line in call_lines(message))


def _tell_others(messages: Spoken) -> Iterator[str]:
    """What there is beside texts and calls, what matters most first."""
    said = [message for message in messages if message.get("role") == "assistant"]
    for message in reversed(said):
        if refusal := message.get("refusal"):
            yield f"a refusal: {_write_value(refusal)}"
    for message in reversed(said):
        if (text := content_text(message.get("content"))).strip():
            # Of the last that has any content it is known that nothing can be seen.
            yield f"text before it: {text.strip()}"
    for message in reversed(said):
        if keys := "; ".join(_tell_keys(message)):
            yield keys
    if any(True for _ in _list_calls(messages)):
        return  # what other messages tell is what the calls gave
    for message in reversed(messages):
        text = content_text(message.get("content"))
        if message.get("role") != "assistant" and text.strip():
            yield f"a {message.get('role')} message: {text.strip()}"


def _tell_keys(message: Mapping[str, JSON]) -> Iterator[str]:
    usual = _USUAL_ENDS | _ENDS_OF_CALLS if message.get("tool_calls") else _USUAL_ENDS
    for key, value in message.items():
        is_usual = key in _ENDS and isinstance(value, str) and value in usual
        if key not in _TELLS_NOTHING and not is_usual and (text := _write_value(value)):
            yield f"{key}: {text}"


def _write_value(value: JSON) -> str:
    if value in (None, "", [], {}):
        return ""
    return value.strip() if isinstance(value, str) else as_json(value)
