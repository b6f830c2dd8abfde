"""Tool calls of an answer that failed, by what the calls, their outputs or their results say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.message import Message, parts_of
from evalcase.text.answer_value import text_of_content
from evalcase.text.readable import as_json
from evalcase.text.strict_json import BadJsonError, parse_json

_MARKS = ("error", "is_error", "isError")
_FAILED = frozenset({
    "error", "failed", "declined", "denied", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED",
})  # fmt: skip
_RESULTS = ("functionResponse", "function_response", "toolResult", "codeExecutionResult")
"""Keys of parts that are results, in Gemini's and Bedrock's forms."""
_OF_CALL = ("tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "id")


def failed_calls(answer: Answer) -> Iterator[str]:
    """The names of the calls that failed: by themselves, or by a tool message or a content part
    that is their result."""
    names: dict[str, str] = {}
    for message in answer.messages:
        for call in message.tool_calls:
            names[as_json(call.get("id"))] = call.name
            if _is_failure(call) or _says_failure(call.output):
                yield call.name
        for result in _list_results(message):
            said = result.get("content", result.get("response", result.get("output")))
            if _is_failure(result) or _says_failure(said) or result.get("type") == "tool-error":
                ids = (as_json(result[key]) for key in _OF_CALL if key in result)
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
    outcome = (value.get("status"), value.get("outcome"))
    return _is_marked(value) or any(isinstance(e, str) and e in _FAILED for e in outcome)


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
    # Anthropic's own tools say it by `error_code`, or by what a program returned.
    code, kind = value.get("return_code"), value.get("type")
    if code not in (None, 0) or (isinstance(kind, str) and kind.startswith("error-")):
        return True  # the latter of the AI SDK
    return any(value.get(mark) for mark in (*_MARKS, "error_code"))
