"""The tool calls in an answer, in whichever of the usual spellings, to those of a message.

A call that nobody reads would count as none, and `tool_calls: {forbidden: […]}` would pass. So what
names calls is read here, for messages and for paths into a reply alike, or refused.
"""

from __future__ import annotations

from typing import Any

from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.message import Message, names_tool, take_message
from evalcase.targets.reading.parts import is_call_part, type_part
from evalcase.text.strict_json import BadJsonError, parse_json

_SINGLE = frozenset({"function_call", "functionCall"})
"""Names of one call, by OpenAI's older form and Gemini's."""
CALLS = ("tool_calls", "toolCalls", "function_calls", "functionCalls", *sorted(_SINGLE))
"""What a mapping may call its calls."""
_NAMES = ("name", "toolName")
_ARGUMENTS = ("input", "args", "arguments", "parameters")
"""What services call that which a tool is given, besides OpenAI's own shape."""
_BLOCKS = frozenset({"tool_use", "tool_call", "tool-call", "function_call"})
"""Types of content parts, and of items of OpenAI's responses, that are calls."""


class BadCallsError(ValueError):
    """What was found is no list of tool calls."""


def calls_message(found: JSON) -> Message | None:
    """A message with calls; None where there are none. Raise BadCallsError for anything else."""
    if found is None or found == []:
        return None
    return take_message({"role": "assistant", "tool_calls": understand_calls(found)})


def understand_calls(found: JSON) -> list[JSON]:
    """The calls of a list, each in a form of ours. Raise BadCallsError if it is none of calls."""
    if not isinstance(found, list):
        raise BadCallsError(f"there is {describe_kind(found)}, and no list of calls")
    return [_read_call(call, number) for number, call in enumerate(found, 1)]


def gather_calls(message: dict[str, JSON]) -> list[JSON]:
    """The calls of a message under all names that there are. Raise BadCallsError as above."""
    calls: list[JSON] = []
    for name in CALLS:
        found = message.get(name)
        if found:
            calls += understand_calls([found] if name in _SINGLE else found)
    return calls


def is_call_block(value: JSON) -> bool:
    """Whether a content part, such as Anthropic's `tool_use`, is a call."""
    if is_call_part(value):
        return True
    if not isinstance(value, dict) or "function" in value:
        return False
    return isinstance(value.get("type"), str) and value["type"] in _BLOCKS


def are_calls(value: JSON) -> bool:
    """Whether a value is a list of calls, at least one, each of which can be read."""
    try:
        return bool(understand_calls(value))
    except BadCallsError:
        return False


def name_of_calls(value: JSON) -> str | None:
    """Under which key a mapping has something that can only be calls, whatever its form. A number
    is a count of them, and no call."""
    if not isinstance(value, dict):
        return None
    return next((key for key in CALLS if value.get(key) and _may_be_calls(value[key])), None)


def find_named(value: dict[str, JSON]) -> str | None:
    """The same in the middle of something else, where only a list, or one call, is no figure."""
    for name in CALLS:
        found = value.get(name)
        if are_calls([found]) if name in _SINGLE else bool(found) and isinstance(found, list):
            return name
    return None


def _may_be_calls(value: JSON) -> bool:
    return isinstance(value, list | dict | str)


def _read_call(call: JSON, number: int) -> JSON:
    """`{tool, input}` and OpenAI's shape are ours already; `{name, args}` is made the first."""
    if names_tool(call):
        return call
    if isinstance(call, dict) and is_call_part(call):
        call = leave_out(type_part(call), ["type"])
    named = _find_key(call, _NAMES) if isinstance(call, dict) else None
    if not isinstance(call, dict) or named is None or not _is_name(call[named]):
        raise BadCallsError(f"call {number} names no tool: a call is {{name, args}}")
    used = _find_key(call, _ARGUMENTS)
    given = {} if used is None else {"input": _read_arguments(call[used])}
    rest = {key: value for key, value in call.items() if key not in (named, used)}
    return {"tool": call[named], **given, **rest}


def _find_key(call: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in call), None)


def _is_name(value: JSON) -> bool:
    return isinstance(value, str) and value != ""


def _read_arguments(value: JSON) -> JSON:
    """Arguments are often JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value.encode())
    except (BadJsonError, UnicodeEncodeError):
        return value


def leave_out(value: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    """A mapping without some of its keys."""
    return {key: item for key, item in value.items() if key not in keys}
