"""Values of any shape to `input`, `expected_output` and the like, so that they mean here what they
meant there: what would be read as something else is spelt out."""

from __future__ import annotations

from evalcase.types.message import OTHER_ROLES, ROLES, is_message, names_tool
from evalcase.types.value import JSON


def shape_input(value: JSON) -> JSON:
    """What a target is given: text, messages, or data."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and not is_message(value):
        return value
    messages = shape_messages(value)
    if messages is not None:
        return messages
    # What is meant as messages, and is wrong, is not taken for data.
    looks_so = isinstance(value, list) and any(map(is_message, value))
    return value if looks_so else [{"role": "user", "content": value}]


def shape_expected(value: JSON) -> JSON:
    """What is expected: text, messages, or data. None stays None: nothing is."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict) and not is_message(value):
        return value
    messages = shape_messages(value)
    if messages is not None:
        return messages
    looks_so = isinstance(value, list) and (not value or any(map(is_message, value)))
    return [{"role": "assistant", "content": value}] if looks_so else value


def shape_messages(value: JSON) -> list[JSON] | None:
    """Messages in one of the usual forms to ours; None if something in it is no message."""
    several = value if isinstance(value, list) else [value]
    messages = [_shape_message(each) for each in several]
    return [each for each in messages if each is not None] if all(messages) and messages else None


def _shape_message(value: JSON) -> JSON:
    if not isinstance(value, dict):
        return None
    if _is_ours(value):
        return value
    value = _of_langchain(value)
    role, calls = value.get("role", value.get("type")), value.get("tool_calls")
    role = OTHER_ROLES.get(role, role) if isinstance(role, str) else None
    if role not in ROLES or not (value.get("content") is not None or calls):
        return None
    message: dict[str, JSON] = {} if "role" in value else {"role": role}
    for name, item in value.items():
        if name == "role":
            message["role"] = role
        elif name == "tool_calls":
            if calls:  # an empty list says nothing
                message[name] = (
                    [_shape_known_call(call) for call in calls] if isinstance(calls, list) else item
                )
        elif name != "type" or "role" in value:
            message[name] = item
    return message


def _is_ours(value: dict[str, JSON]) -> bool:
    if not is_message(value) or value["role"] not in ROLES:
        return False
    calls = value.get("tool_calls")
    return calls is None or (
        isinstance(calls, list) and bool(calls) and all(map(names_tool, calls))
    )


def _of_langchain(value: dict[str, JSON]) -> dict[str, JSON]:
    """A message as LangChain stores it, `{type: human, data: {…}}`, or as it names its classes."""
    name, held, data = value.get("id"), value.get("kwargs"), value.get("data")
    if isinstance(value.get("type"), str) and isinstance(data, dict):
        return {**_keep_said(data), "type": value["type"]}
    if isinstance(name, list) and name and isinstance(held, dict):
        return {**_keep_said(held), "type": str(name[-1]).removesuffix("Message").lower()}
    return value


def _keep_said(held: dict[str, JSON]) -> dict[str, JSON]:
    """What a message says, without the many names that it leaves empty."""
    return {name: item for name, item in held.items() if item not in (None, {}, [])}


def _shape_known_call(call: JSON) -> JSON:
    """A tool call as Inspect and LangChain write it to ours; the others are ours already."""
    if not isinstance(call, dict):
        return call
    name = call.get("function", call.get("name"))
    arguments = call.get("arguments", call.get("args", call.get("input_parameters")))
    if "tool" in call or not isinstance(name, str):
        return call
    taken = ("function", "name", "arguments", "args", "input_parameters", "type")
    rest = {key: item for key, item in call.items() if key not in taken and item is not None}
    return {"tool": name, **({} if arguments is None else {"input": arguments}), **rest}


def shape_call(call: JSON) -> JSON:
    """One tool call, or None if it names no tool."""
    shaped: JSON = _shape_known_call(call) if isinstance(call, dict) else {"tool": call}
    return shaped if isinstance(shaped, dict) and isinstance(shaped.get("tool"), str) else None


def shape_id(value: JSON) -> str | None:
    """An id as text: a number is written out."""
    if isinstance(value, str):
        return value if value.strip() else None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def shape_tags(value: JSON) -> list[JSON] | None:
    """Tags as a list; a text has them between commas."""
    if isinstance(value, str):
        return list(dict.fromkeys(each.strip() for each in value.split(",") if each.strip()))
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return list(dict.fromkeys(value))
    return None
