"""Tool calls of an answer that failed, by what their outputs or the messages of tools say."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON


def failed_calls(answer: Answer) -> Iterator[str]:
    """The calls whose output, or tool message, says that they failed."""
    names: dict[object, str] = {}
    for message in answer.messages:
        for call in message.tool_calls:
            names[call.get("id")] = call.name
            if _has_failed(call) or _has_failed(call.output):
                yield call.name
        if message.role == "tool" and (_has_failed(message) or _has_failed(message.content)):
            yield str(names.get(message.get("tool_call_id")) or message.get("name") or "a tool")


def _has_failed(value: JSON) -> bool:
    return isinstance(value, dict) and bool(value.get("error") or value.get("is_error"))
