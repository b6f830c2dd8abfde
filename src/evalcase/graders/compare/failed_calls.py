"""Tool calls of an answer that failed, by what their outputs or the messages of tools say."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.text.answer_value import text_of_content
from evalcase.text.readable import as_json
from evalcase.text.strict_json import BadJsonError, parse_json


def failed_calls(answer: Answer) -> Iterator[str]:
    """The calls whose output, or tool message, says that they failed."""
    names: dict[str, str] = {}
    for message in answer.messages:
        for call in message.tool_calls:
            names[as_json(call.get("id"))] = call.name
            if _has_failed(call) or _has_failed(call.output):
                yield call.name
        if message.role == "tool" and (_has_failed(message) or _has_failed(message.content)):
            name = names.get(as_json(message.get("tool_call_id")))
            yield str(name or message.get("name") or "a tool")


def _has_failed(value: JSON) -> bool:
    """Whether a value says so itself, or an item of a list does. Most tools put out text: where
    that is JSON, what it says counts."""
    text = text_of_content(value)
    if text is not None:
        try:
            value = parse_json(text)
        except BadJsonError:
            return False
    several = value if isinstance(value, list) else [value]
    return any(
        isinstance(each, dict) and bool(each.get("error") or each.get("is_error"))
        for each in several
    )
