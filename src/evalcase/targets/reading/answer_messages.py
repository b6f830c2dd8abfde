"""Messages in an answer: checked, because a target may give anything.

Text that is not valid Unicode (bytes that are no UTF-8, lone surrogates) can't be written to most
files. Its message has U+FFFD in the place of what is wrong, so that graders and reports can read
it, and a key `content_base64` with the bytes as they came: nothing is lost, and the key is the
flag. (Lone surrogates of Python text are encoded as UTF-8 would, were they allowed.)
"""

from __future__ import annotations

from base64 import b64encode
from json import JSONEncoder
from typing import Any

from evalcase.errors import TargetError
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.message import ROLES, Message, is_message, names_tool, take_message
from evalcase.targets.reading.calls import BadCallsError
from evalcase.targets.reading.parts import is_turn, read_turn
from evalcase.targets.reading.replies import mend_message
from evalcase.text.plain_json import has_lone_surrogates

RAW = "content_base64"
_NAMELESS = (
    "that doesn't name its tool: a call is {tool, input}, {name, args} or "
    "{function: {name, arguments}}"
)
_to_json = JSONEncoder(ensure_ascii=False).encode


def read_messages(items: list[JSON]) -> tuple[Message, ...]:
    """The messages of a list. Raise TargetError at the first item that is none."""
    return tuple(_read_message(item, number) for number, item in enumerate(items))


def text_message(text: str) -> Message:
    """An assistant message with a text of any characters."""
    if text.isascii():
        return take_message({"role": "assistant", "content": text})
    return Message(_make_valid({"role": "assistant", "content": text}))


def bytes_message(data: bytes) -> Message:
    """An assistant message with a text of any bytes."""
    try:
        return Message({"role": "assistant", "content": data.decode()})
    except UnicodeDecodeError:
        content, raw = data.decode(errors="replace"), b64encode(data).decode()
        return Message({"role": "assistant", "content": content, RAW: raw})


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
    message = _make_valid(item)
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


def _make_valid(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str) and has_lone_surrogates(content):
        data = content.encode(errors="surrogatepass")
        message = {**message, "content": data.decode(errors="replace")}
        message[RAW] = b64encode(data).decode()
    return message


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
