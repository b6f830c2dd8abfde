"""Replies of models, as their own services and libraries write them, to messages of ours.

Only what is plainly the reply of an assistant is read; anything else is data, with every key as it
is. Calls in data are not lost: `text.calls` finds them when a grader looks at calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

from evalcase.errors import TargetError
from evalcase.targets.reading.parts import is_parts, type_parts
from evalcase.types.message import Message, ToolCall, is_message, take_message
from evalcase.types.value import JSON
from evalcase.util.answers import finish_reason_of
from evalcase.util.calls import (
    CALLS,
    UNREAD,
    CallShape,
    ReadCalls,
    find_calls,
    gather_calls,
    is_call_block,
    understand_calls,
    unread_in,
)

_TEXTS = ("content", "text", "output")
"""What a reply without a role may call what it says, the best first."""


def mend_message(message: dict[str, Any]) -> dict[str, Any]:
    """A message with all its calls in `tool_calls`, each in a form of ours: those of `toolCalls`,
    `function_call` and blocks `tool_use`, too. Raise BadCallsError where one can't be read."""
    content = message.get("content")
    if isinstance(content, list) and any(map(is_call_block, content)):
        message = {**message, **_split_blocks(content, message)}
    calls = gather_calls(message)
    if not calls or calls == message.get("tool_calls"):
        return message
    others = [key for key in CALLS[1:] if message.get(key)]
    return {**leave_out(message, others), "tool_calls": calls}


def find_message(value: dict[str, Any], extras: frozenset[str]) -> dict[str, Any] | None:
    """The message that a mapping without a role stands for; None if it is data."""
    parts = value.get("parts")
    if "content" not in value and isinstance(parts, list) and any(map(is_call_block, parts)):
        value = {"content": parts, **leave_out(value, ["parts"])}
    body = next((key for key in _TEXTS if key in value), None)
    names = [key for key in CALLS if key in value]
    blocks = value.get("content")
    if not names and not (isinstance(blocks, list) and any(map(is_call_block, blocks))):
        return None
    rest = leave_out(value, [*extras, *names, *([body] if body else [])])
    calls = {name: value[name] for name in names}
    if (rest and body != "content") or not _is_said(value, body) or not _may_hold(calls):
        return None
    said = {} if body is None else {"content": value[body]}
    if body is None and all(each is None for each in calls.values()):
        return None
    return {"role": "assistant", **said, **calls, **rest}


def put_together(said: JSON, beside: Mapping[str, JSON]) -> JSON:
    """What was said, with the calls that stand beside it: a text becomes a message with them."""
    calls = {name: beside[name] for name in CALLS if isinstance(beside.get(name), list | dict)}
    if not isinstance(said, str | None) or not any(calls.values()):
        return said
    return {"content": said, **calls}


def note_unread(
    messages: Sequence[Message], dropped: JSON, describe: Callable[[CallShape], str] = str
) -> tuple[Message, ...]:
    """The messages, with a note of the calls in a part of the reply that is not kept. `describe`
    says what can be done, at the first of them."""
    read = ReadCalls(call for message in messages for call in message.tool_calls)
    found = [shape for shape in find_calls(dropped) if shape not in read]
    unread: list[JSON] = [*map(describe, found[:1]), *map(str, found[1:])]
    return _put_on_last(messages, UNREAD, unread) if unread else tuple(messages)


def ignore_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, with a note where something in one looks like a call and is none."""
    read = ReadCalls(call for message in messages for call in message.tool_calls)
    return tuple(
        take_message({**each, UNREAD: []}) if any(unread_in(each, read)) else each
        for each in messages
    )


def note_end(messages: Sequence[Message], reason: str | None) -> tuple[Message, ...]:
    """The messages, the last of the assistant with how the reply ended."""
    said = [message for message in messages if message.role == "assistant"]
    if reason is None or (said and finish_reason_of(said[-1]) is not None):
        return tuple(messages)
    return _put_on_last(messages, "finish_reason", reason)


def _put_on_last(messages: Sequence[Message], key: str, value: JSON) -> tuple[Message, ...]:
    """The messages, with a key on the last of the assistant, which is added if there is none."""
    places = [at for at, message in enumerate(messages) if message.role == "assistant"]
    if not places:
        return (*messages, take_message({"role": "assistant", "content": None, key: value}))
    at = places[-1]
    return (*messages[:at], take_message({**messages[at], key: value}), *messages[at + 1 :])


def find_choice(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in OpenAI's `choices`, with how it ended; None if there are none."""
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    if len(choices) > 1:
        what = f"the answer has {len(choices)} `choices`, and one can be graded"
        why = f"{what}: return the `message` of that one"
        raise TargetError(why, kind="protocol", details={"value": ascii(value)[:1000]})
    reason = choices[0].get("finish_reason")
    return {**message, "finish_reason": reason} if isinstance(reason, str) else message


def find_ollama(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in what Ollama answers, with how it ended; None if it is none."""
    message = value.get("message")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    if "done" not in value:
        return None
    reason = value.get("done_reason", "stop" if value["done"] else "in_progress")
    return {**message, "finish_reason": reason}


def find_converse(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in what Bedrock's Converse API answers, with how it ended; None if it is none."""
    output = value.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    reason = value.get("stopReason")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    if not is_parts(message.get("content")) or not isinstance(reason, str):
        return None
    return {**message, "content": type_parts(message["content"]) or None, "finish_reason": reason}


def is_blocks(items: list[JSON]) -> bool:
    """Whether a list is the content of a message in Anthropic's or Gemini's form, with calls."""
    if not any(map(is_call_block, items)) or not is_parts(items) or any(map(is_message, items)):
        return False
    typed = [isinstance(each.get("type"), str) for each in items]
    return all(typed) or not any(typed)


def leave_out(value: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """A mapping without some of its keys."""
    return {key: item for key, item in value.items() if key not in keys}


def _is_said(value: dict[str, Any], body: str | None) -> bool:
    return body in (None, "content") or isinstance(value[body or ""], str | None)


def _may_hold(calls: dict[str, Any]) -> bool:
    return all(each is None or isinstance(each, list | dict) for each in calls.values())


def _is_result(block: JSON) -> TypeGuard[dict[str, Any]]:
    return isinstance(block, dict) and isinstance(block.get("tool_use_id"), str)


def _add_output(call: JSON, gave: Mapping[str, JSON]) -> dict[str, Any]:
    """A call of the service's own, with what the block of its result holds."""
    assert isinstance(call, dict)
    id = call.get("id")
    return {**call, "output": gave[id]} if isinstance(id, str) and id in gave else call


def _split_blocks(blocks: list[JSON], message: dict[str, Any]) -> dict[str, Any]:
    """The content without its calls, and the calls after those that the message has."""
    rest = type_parts([block for block in blocks if not is_call_block(block)])
    uses = [leave_out(block, ["type"]) for block in blocks if is_call_block(block)]  # type: ignore[arg-type]
    before = understand_calls(message.get("tool_calls") or [])
    gave = {each["tool_use_id"]: each.get("content") for each in rest if _is_result(each)}
    made = [_add_output(call, gave) for call in understand_calls(list(uses))]
    # LangChain has the calls of Anthropic's models twice: as blocks, and beside them.
    known = [(call.get("id"), ToolCall(call).name) for call in before]
    calls = [call for call in made if (call.get("id"), call["tool"]) not in known]
    return {"content": rest or None, "tool_calls": [*before, *calls]}
