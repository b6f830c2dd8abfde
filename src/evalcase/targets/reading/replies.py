"""Replies of models, as their own services and libraries write them, to messages of ours.

Only what is plainly the reply of an assistant is read. What holds calls in another way is an error
of the trial that says what to return: as data it would have no calls, and graders that forbid some
would pass. Data that names no calls is nobody's reply, and is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalcase.errors import TargetError
from evalcase.model.json_value import JSON
from evalcase.model.message import is_message
from evalcase.targets.reading.calls import (
    CALLS,
    are_calls,
    gather_calls,
    is_call_block,
    leave_out,
    name_of_calls,
    understand_calls,
)
from evalcase.targets.reading.hidden import find_calls
from evalcase.targets.reading.parts import is_call_part, is_parts, type_parts

_TEXTS = ("content", "text", "output")
"""What a reply without a role may call what it says, the best first."""
_FORM = '{"role": "assistant", "content": …, "tool_calls": [{"tool": …, "input": {…}}]}'
_AS_DATA = '{"role": "assistant", "content": the data}'


class HiddenCallsError(TargetError):
    """An answer has calls that can't be read where they are."""


def mend_message(message: dict[str, Any]) -> dict[str, Any]:
    """A message with all its calls in `tool_calls`, each in a form of ours: those of `toolCalls`,
    `function_call` and blocks `tool_use`, too. Raise BadCallsError where one can't be read."""
    content = message.get("content")
    if isinstance(content, list) and any(map(is_call_block, content)):
        content = type_parts(content) if any(map(is_call_part, content)) else content
        message = {**message, **_split_blocks(content, message)}
    calls = gather_calls(message)
    if not calls or calls == message.get("tool_calls"):
        return message
    others = [key for key in CALLS[1:] if message.get(key)]
    return {**leave_out(message, others), "tool_calls": calls}


def find_message(value: dict[str, Any], extras: frozenset[str]) -> dict[str, Any] | None:
    """The message that a mapping without a role stands for; None if it is data. Raise TargetError
    where it has calls that can't be read."""
    parts = value.get("parts")
    if "content" not in value and isinstance(parts, list) and any(map(is_call_part, parts)):
        value = {"content": parts, **leave_out(value, ["parts"])}
    body = next((key for key in _TEXTS if key in value), None)
    names = [key for key in CALLS if key in value]
    blocks = value.get("content")
    if not names and not (isinstance(blocks, list) and any(map(is_call_block, blocks))):
        refuse_calls(value)
        return None
    rest = leave_out(value, [*extras, *names, *([body] if body else [])])
    calls = {name: value[name] for name in names}
    if (rest and body != "content") or not _is_said(value, body) or not _may_hold(calls):
        refuse_calls(value)
        return None
    said = {} if body is None else {"content": value[body]}
    if body is None and all(each is None for each in calls.values()):
        return None
    return {"role": "assistant", **said, **calls, **rest}


def put_together(said: JSON, beside: Mapping[str, JSON]) -> JSON:
    """What was said, with the calls that stand beside it: a text becomes a message with them."""
    if not isinstance(said, str | None) or name_of_calls(dict(beside)) is None:
        return said
    return {"content": said, **{name: beside[name] for name in CALLS if beside.get(name)}}


def refuse_beside(beside: Mapping[str, JSON]) -> None:
    """Raise HiddenCallsError for calls beside an answer that can't be told to be its own."""
    refuse_calls({name: beside[name] for name in CALLS if name in beside})


def find_choice(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in OpenAI's `choices`; None if there are none."""
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    if len(choices) > 1:
        what = f"the answer has {len(choices)} `choices`, and one can be graded"
        why = f"{what}: return the `message` of that one"
        raise TargetError(why, kind="protocol", details=_show(value))
    return message


def refuse_calls(value: JSON) -> None:
    """Raise HiddenCallsError for data with something in it that can only be calls."""
    name = _find_calls(value)
    if name is not None:
        what = f"the answer has calls in {name}, in a form that is not read"
        raise HiddenCallsError(
            f"{what}: return {_FORM}, or, if it is data, {_AS_DATA}",
            kind="protocol", details=_show(value),
        )  # fmt: skip


def is_blocks(items: list[JSON]) -> bool:
    """Whether a list is the content of a message in Anthropic's or Gemini's form, with calls."""
    if not any(map(is_call_block, items)) or not is_parts(items) or any(map(is_message, items)):
        return False
    return any(map(is_call_part, items)) or all(isinstance(each.get("type"), str) for each in items)


def _show(value: JSON) -> dict[str, JSON]:
    return {"value": ascii(value)[:1000]}


def _is_said(value: dict[str, Any], body: str | None) -> bool:
    return body in (None, "content") or isinstance(value[body or ""], str | None)


def _may_hold(calls: dict[str, Any]) -> bool:
    return all(each is None or isinstance(each, list | dict) for each in calls.values())


def _split_blocks(blocks: list[JSON], message: dict[str, Any]) -> dict[str, Any]:
    """The content without its calls, and the calls after those that the message has."""
    rest = [block for block in blocks if not is_call_block(block)]
    uses = [leave_out(block, ["type"]) for block in blocks if is_call_block(block)]  # type: ignore[arg-type]
    before = message.get("tool_calls") or []
    made = understand_calls(list(uses))
    known = {call.get("id") for call in before if isinstance(call, dict)} - {None}
    # LangChain has the calls of Anthropic's models twice: as blocks, and beside them.
    calls = [call for call in made if not (isinstance(call, dict) and call.get("id") in known)]
    return {"content": rest or None, "tool_calls": [*before, *calls]}


def _find_calls(value: JSON) -> str | None:
    """Where there are calls in data, in words."""
    if (
        isinstance(value, list)
        and value
        and isinstance(value[0], str)
        and any(map(are_calls, value))
    ):
        return "a list beside a text"
    path = find_calls(value)
    return None if path is None else f"`{path}`"
