"""The tool calls in a reply of a service, in whichever of the usual spellings, to those of a
message."""

from __future__ import annotations

from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.message import Message, names_tool, take_message
from evalcase.text.strict_json import BadJsonError, parse_json

_ARGUMENTS = ("input", "args", "arguments", "parameters")
"""What services call that which a tool is given, besides OpenAI's own shape."""


class BadCallsError(ValueError):
    """What was found is no list of tool calls."""


def calls_message(found: JSON) -> Message | None:
    """A message with calls; None where there are none. Raise BadCallsError for anything else."""
    if found is None or found == []:
        return None
    if not isinstance(found, list):
        raise BadCallsError(f"there is {describe_kind(found)}, and no list of calls")
    calls: list[JSON] = [_read_call(call, number) for number, call in enumerate(found, 1)]
    return take_message({"role": "assistant", "tool_calls": calls})


def _read_call(call: JSON, number: int) -> JSON:
    """`{tool, input}` and OpenAI's shape are ours already; `{name, args}` is made the first."""
    if names_tool(call):
        return call
    if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not call["name"]:
        raise BadCallsError(f"call {number} names no tool: a call is {{name, args}}")
    used = next((name for name in _ARGUMENTS if name in call), None)
    given = {} if used is None else {"input": _read_arguments(call[used])}
    rest = {key: value for key, value in call.items() if key not in ("name", used)}
    return {"tool": call["name"], **given, **rest}


def _read_arguments(value: JSON) -> JSON:
    """Arguments are often JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value.encode())
    except (BadJsonError, UnicodeEncodeError):
        return value
