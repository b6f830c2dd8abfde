"""Tool calls of an answer that failed, by what the calls, their outputs or their results say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalcase.types.answer import Answer
from evalcase.types.message import Message, parts_of
from evalcase.types.value import JSON
from evalcase.util.answers import text_of_content
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.text import as_json

_MARKS = ("error", "is_error", "isError")
_FAILED = frozenset({
    "error", "failed", "failure", "declined", "denied", "rejected", "timed_out", "timeout",
    "outcome_failed", "outcome_deadline_exceeded",
})  # fmt: skip
_NOTHING = frozenset({"", "0", "none", "null", "false"})
_RESULTS = ("functionResponse", "function_response", "toolResult", "codeExecutionResult")
"""Keys of parts that are results, in Gemini's and Bedrock's forms."""
_OF_CALL = ("tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "id")


def failed_calls(answer: Answer) -> Iterator[str]:
    """The names of the calls that failed: by themselves, or by a tool message or a content part
    that is their result."""
    names: dict[str, str] = {}
    told: set[str] = set()
    for message in answer.messages:
        for call in message.tool_calls:
            ids = [as_json(call[key]) for key in _OF_CALL if key in call]
            names |= dict.fromkeys(ids, call.name)
            if _is_failure(call) or _says_failure(call.output) or _says_failure(call.get("result")):
                told.update(ids)
                yield call.name
        for result in _list_results(message):
            said = result.get("content", result.get("response", result.get("output")))
            ids = [as_json(result[key]) for key in _OF_CALL if key in result]
            if not told.isdisjoint(ids):
                continue
            if _is_failure(result) or _says_failure(said) or result.get("type") == "tool-error":
                known = (names[each] for each in ids if each in names)
                yield str(next(known, None) or result.get("name") or "a tool")


def _list_results(message: Message) -> Iterator[Mapping[str, Any]]:
    if message.role == "tool":
        yield message
    blocks = message.get("blocks")
    for part in [*parts_of(message.content), *(blocks if isinstance(blocks, list) else ())]:
        if not isinstance(part, dict):
            continue
        inner = next((part[key] for key in _RESULTS if isinstance(part.get(key), dict)), None)
        if isinstance(inner, dict):
            yield inner
        elif str(part.get("type")).endswith(("tool_result", "tool-result", "tool-error")):
            yield part


def _is_failure(value: Mapping[str, Any]) -> bool:
    """Whether a call or a result says of itself that it failed."""
    outcome = value.get("outcome")
    inner = outcome if isinstance(outcome, dict) else {"type": outcome}
    said = (value.get("status"), inner.get("type"))
    if any(isinstance(each, str) and each.lower() in _FAILED for each in said):
        return True
    return _is_marked(value) or _is_code(inner.get("exit_code"))


def _says_failure(value: JSON) -> bool:
    """Whether what a tool put out says so, or an item of a list does. Most tools put out text:
    where that is JSON, what it says counts."""
    text = text_of_content(value)
    if text is not None:
        try:
            value = parse_json(text)
        except BadJsonError:
            return False
    several = value if isinstance(value, list) else [value]
    return any(isinstance(each, dict) and _is_marked(each) for each in several)


def _is_marked(value: Mapping[str, Any]) -> bool:
    kind = str(value.get("type"))
    if kind in ("error-text", "error-json"):  # as the AI SDK has it
        return True
    if kind.endswith("_result_error") or any(_is_error(value.get(mark)) for mark in _MARKS):
        return True
    # Anthropic's own tools return what a program returned.
    return kind.endswith("_result") and _is_code(value.get("return_code"))


def _is_code(value: JSON) -> bool:
    return value is not None and str(value).lower() not in _NOTHING


def _is_error(value: JSON) -> bool:
    """A number is a measure of something, and no error."""
    if isinstance(value, str):
        return value.strip().lower() not in _NOTHING
    return value is True or (isinstance(value, dict | list) and bool(value))
