"""Messages in an answer: checked, because a target may give anything."""

from __future__ import annotations

from json import JSONEncoder
from typing import Any

from evalcase.errors import TargetError
from evalcase.targets.reading.parts import is_converse, is_turn, read_turn, type_content
from evalcase.targets.reading.replies import mend_message
from evalcase.targets.reading.text_messages import make_valid
from evalcase.types.message import ROLES, Message, is_message, names_tool, take_message
from evalcase.types.value import JSON, describe_kind
from evalcase.util.calls import BadCallsError

_NAMELESS = (
    "that doesn't name its tool: a call is {tool, input}, {name, args} or "
    "{function: {name, arguments}}"
)
_to_json = JSONEncoder(ensure_ascii=False).encode


def read_messages(items: list[JSON]) -> tuple[Message, ...]:
    """The messages of a list. Raise TargetError at the first item that is none."""
    if any(map(is_converse, items)):
        items = [type_content(item) for item in items]
    return tuple(_read_message(item, number) for number, item in enumerate(items))


def _read_message(item: JSON, number: int) -> Message:
    where = f"message {number + 1} of the answer"
    if isinstance(item, dict) and is_turn(item):
        item = read_turn(item)
    if not isinstance(item, dict) or not is_message(item):
        raise _make_bad_error(
            f"{where} is {describe_kind(item)} without a role, so it is not a message", item
        )
    if item["role"] not in ROLES:
        raise _make_bad_error(
            f"{where} has the role {item['role']!r}; roles are {', '.join(ROLES)}", item
        )
    item = _mend_calls(item, where)
    calls = item.get("tool_calls")
    if calls is None and "content" not in item:
        raise _make_bad_error(f"{where} has neither `content` nor `tool_calls`", item)
    if calls is not None and not is_tool_calls(calls):
        raise _make_bad_error(f"{where} has a call {_NAMELESS}", item)
    message = make_valid(item)
    _check_unicode(message, where)
    return take_message(message)


def _mend_calls(item: dict[str, JSON], where: str) -> dict[str, JSON]:
    if item["role"] != "assistant":
        return item
    try:
        return mend_message(item)
    except BadCallsError:
        raise _make_bad_error(f"{where} has a call {_NAMELESS}", item) from None


def is_tool_calls(calls: JSON) -> bool:
    """Whether a value is a list of calls, each of which names its tool."""
    return isinstance(calls, list) and all(map(names_tool, calls))


def _check_unicode(message: dict[str, Any], where: str) -> None:
    """Refuse what only the text of a message can keep: there is no place for a flag elsewhere."""
    if len(message) == 2 and isinstance(message.get("content"), str):
        return
    try:
        _to_json(message).encode()
    except UnicodeEncodeError:
        raise _make_bad_error(
            f"{where} has half of a character (a lone surrogate) in it", message
        ) from None


def _make_bad_error(message: str, item: object) -> TargetError:
    return TargetError(message, kind="protocol", details={"message": repr(item)[:1000]})
