"""What values, bytes and messages become as answers: one rule for every kind of target. The answer
shares nothing with the value, which may change later. Text that is not valid Unicode is kept twice:
readable, with U+FFFD in its place, and as bytes in `content_base64`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from json import dumps
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

import msgspec

from evalcase.errors import TargetError
from evalcase.targets.endings import find_end, refuse_failed
from evalcase.targets.replies import (
    RUN_KEYS,
    find_message,
    find_reply,
    find_run,
    is_blocks,
    is_turn,
    leave_out,
    mend_message,
    put_together,
    read_turn,
    type_converse,
)
from evalcase.targets.usage import read_cost, read_usage
from evalcase.types.answer import Answer, sum_usage
from evalcase.types.message import ROLES, Message, is_message, names_tool, parts_of, take_message
from evalcase.types.target import Warn
from evalcase.types.value import JSON, describe_kind, replace
from evalcase.util.answers import finish_reason_of
from evalcase.util.calls import UNREAD, BadCallsError, ReadCalls, find_calls, unread_in
from evalcase.util.json import BadJsonError, NotJsonError, copy_json, parse_json, whole_text
from evalcase.util.text import cut_bytes, list_some

if TYPE_CHECKING:
    from evalcase.util.processes import Output

BODIES = ("messages", "output_messages", "output")
"""Names for the list of messages in a mapping, the best first."""
EXTRAS = frozenset({
    "usage", "token_usage", "cost_usd", "truncated", "duration_ms", "ends_conversation",
})  # fmt: skip
"""Keys beside it. `duration_ms` is accepted and not used: the engine measures the time."""
How = Literal["auto", "text", "json", "agentv"]

_RAW = "content_base64"
_ARGUMENTS = ("input", "args", "arguments")
_NAMELESS = (
    "has a call that doesn't name its tool: a call is {tool, input}, {name, args} or "
    "{function: {name, arguments}}"
)
_MOST_NAMED = 5


def ignore_warning(_: str) -> None:
    """A `warn` that shows nothing."""


def read_answer(value: object, warn: Warn = ignore_warning) -> Answer:
    """The answer in a value that Python code returned. Raise TargetError where there is none."""
    if isinstance(value, Answer):
        plain = _copy_value(list(value.messages))
        assert isinstance(plain, list)
        return replace(value, messages=read_messages(plain))
    if value is None:
        what = "the target returned None: does the function end without a `return`?"
        raise TargetError(what, kind="protocol")
    return read_json(value if type(value) is str else _copy_value(value), warn)


def read_json(value: JSON, warn: Warn = ignore_warning) -> Answer:
    """The same for a JSON value that the caller gives away."""
    if isinstance(value, str) and not value.startswith("{"):  # no reply as JSON
        return Answer((content_message(value),))
    return read_shape(value, warn) or Answer(note_end([content_message(value)], find_end(value)))


def _copy_value(value: object) -> JSON:
    try:
        return copy_json(value)
    except NotJsonError as error:
        with suppress(NotJsonError):
            return copy_json(to_plain(value))
        details = {}
        with suppress(Exception):  # `__repr__` is user code, too
            details["value"] = ascii(value)[:1000]
        message = f"the target returned {type(value).__name__}: {error}"
        raise TargetError(message, kind="protocol", details=details) from None


# Objects of user code.


def to_plain(value: object) -> object:
    """An object of user code as plain data: dataclasses, Structs, pydantic models, and results of
    frameworks with the parts that matter. Raise NotJsonError for any other object."""
    try:
        # Bytes are no text: they are left as they are, and refused.
        return msgspec.to_builtins(
            _pick_parts(value), enc_hook=_to_plain_hook, builtin_types=(bytes, bytearray)
        )
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise NotJsonError(str(error)) from None


_LOOSE = (set, frozenset, date, time, timedelta, Decimal, UUID, Enum)
"""msgspec writes them as lists and texts. Fields of an object may hold them; an answer may not."""


def _to_plain_hook(value: Any) -> object:  # noqa: ANN401 - an object of user code
    if isinstance(value, str):
        return str.__str__(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and hasattr(value, "model_fields_set"):
        return dump(mode="json", warnings=False)
    picked = _pick_parts(value)
    if picked is value:
        raise NotImplementedError(f"{type(value).__name__} is not a JSON value")
    return picked


def _pick_parts(value: Any) -> Any:  # noqa: ANN401 - an object of user code
    """A value with the parts of a framework's results: the rest is agents, clients and contexts.
    Raise TypeError if it holds anything but JSON and objects with fields."""
    if isinstance(value, _LOOSE) and not isinstance(value, str | int):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    if isinstance(value, Mapping):
        return {key: _pick_parts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_pick_parts(item) for item in value]
    if _has(value, "final_output", "new_items", "raw_responses"):  # OpenAI Agents
        items = [{"type": each.type, "raw_item": each.raw_item} for each in value.new_items]
        usages = [{"usage": each.usage} for each in value.raw_responses]
        return {"final_output": "", "new_items": items, "raw_responses": usages}
    if _has(value, "new_messages", "output", "usage"):  # pydantic-ai
        tool = getattr(value, "_output_tool_name", None)
        history = {"message_history": value.new_messages()}
        return {"output": value.output, "_output_tool_name": tool, "_state": history}
    return value


def _has(value: object, *names: str) -> bool:
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


# Values in the shape of messages or of a reply.


def read_shape(value: JSON, warn: Warn) -> Answer | None:
    """The answer of a value in the shape of messages or of a model's reply; None for data."""
    refuse_failed(value)
    run = find_run(value, warn)
    reply = run or find_reply(value, warn)
    answer: Answer | None = None
    if reply is not None:
        usage = sum_usage([read_usage(each, warn) for each in reply.usages])
        answer = Answer(read_messages(reply.messages), usage, model=reply.model)
    elif isinstance(value, dict):
        answer = _read_mapping(value, warn)
    elif isinstance(value, list) and _holds_message(value):
        answer = Answer(read_messages(value))
    elif isinstance(value, list) and is_blocks(value):
        answer = Answer((content_message(value),))
    if answer is None or not isinstance(value, dict) or is_message(value):
        return answer
    # All calls of a run are read, or kept in its messages.
    dropped = value if run is None else leave_out(value, RUN_KEYS)
    return replace(answer, messages=note_unread(answer.messages, dropped))


def _holds_message(value: JSON) -> bool:
    return isinstance(value, list) and any(is_message(each) or is_turn(each) for each in value)


def _read_mapping(value: dict[str, JSON], warn: Warn) -> Answer | None:
    if is_message(value) or is_turn(value):
        return Answer(read_messages([value]))
    for name in BODIES:
        items = value.get(name)
        if isinstance(items, list) and _holds_message(items):
            unread = [f"{key!r:.40}" for key in value if key != name and key not in EXTRAS]
            if unread:
                named = list_some(unread[:_MOST_NAMED], len(unread))
                warn(f"{named} beside `{name}` in an answer: not read; usage and cost_usd are")
            return with_extras(read_messages(items), value, warn)
    message = find_message(value, EXTRAS)
    return None if message is None else with_extras(read_messages([message]), value, warn)


def read_beside(value: dict[str, JSON], name: str, warn: Warn) -> Answer:
    """The answer under a key of a mapping, with the calls, usage and cost beside it."""
    answer = read_json(put_together(value.get(name), value), warn)
    beside = with_extras(answer.messages, value, warn)
    return replace(
        answer,
        messages=note_unread(beside.messages, leave_out(value, (name,))),
        usage=answer.usage or beside.usage,
        cost_usd=beside.cost_usd if answer.cost_usd is None else answer.cost_usd,
        truncated=answer.truncated or beside.truncated,
        ends_conversation=answer.ends_conversation or beside.ends_conversation,
    )


def with_extras(messages: Sequence[Message], value: dict[str, JSON], warn: Warn) -> Answer:
    """An answer with the usage and the cost that a mapping has."""
    usage = read_usage(value.get("usage", value.get("token_usage")), warn)
    cost_usd = read_cost(value.get("cost_usd"), warn)
    return Answer(
        note_end(messages, find_end(value)), usage, cost_usd, value.get("truncated") is True,
        ends_conversation=value.get("ends_conversation") is True,
    )  # fmt: skip


# Messages.


def content_message(content: JSON) -> Message:
    if isinstance(content, str):
        message = {"role": "assistant", "content": content}
        return take_message(message if content.isascii() else _mark_invalid(message))
    return read_messages([{"role": "assistant", "content": content}])[0]


def read_messages(items: list[JSON]) -> tuple[Message, ...]:
    """The messages of a list. Raise TargetError at the first item that is none."""
    items = type_converse(items)
    return tuple(_read_message(item, number) for number, item in enumerate(items, 1))


def _read_message(item: JSON, number: int) -> Message:
    if isinstance(item, dict) and is_turn(item):
        item = read_turn(item)
    if not isinstance(item, dict) or not is_message(item):
        what = f"is {describe_kind(item)} without a role, so it is not a message"
        raise _message_error(number, what, item)
    if item["role"] not in ROLES:
        what = f"has the role {item['role']!r}; roles are {', '.join(ROLES)}"
        raise _message_error(number, what, item)
    if item["role"] == "assistant":
        try:
            item = mend_message(item)
        except BadCallsError:
            raise _message_error(number, _NAMELESS, item) from None
    calls = item.get("tool_calls")
    if calls is None and "content" not in item:
        raise _message_error(number, "has neither `content` nor `tool_calls`", item)
    if calls is not None and not (isinstance(calls, list) and all(map(names_tool, calls))):
        raise _message_error(number, _NAMELESS, item)
    odd: list[JSON] = [
        f"`{part['name']!s:.80}` in a part of the type `{part['type']!s:.80}`"
        for part in parts_of(item.get("content"))
        if isinstance(part.get("name"), str) and not part.keys().isdisjoint(_ARGUMENTS)
    ]
    if odd and item["role"] == "assistant" and UNREAD not in item:
        item = {**item, UNREAD: odd}  # content parts of unknown types, which may be calls
    message = _mark_invalid(item)
    try:
        # Only the text of a message has a place for what is not Unicode.
        dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _message_error(number, "has a lone surrogate in it", message) from None
    return take_message(message)


def _message_error(number: int, what: str, item: object) -> TargetError:
    message = f"message {number} of the answer {what}"
    return TargetError(message, kind="protocol", details={"message": repr(item)[:1000]})


def _mark_invalid(message: dict[str, Any]) -> dict[str, Any]:
    """The message; a text with lone surrogates is made readable, and kept as bytes beside it."""
    content = message.get("content")
    if isinstance(content, str) and not content.isascii() and whole_text(content) != content:
        data = content.encode(errors="surrogatepass")
        message = {**message, "content": data.decode(errors="replace")}
        message[_RAW] = b64encode(data).decode()
    return message


def note_unread(messages: Sequence[Message], dropped: JSON, hint: str = "") -> tuple[Message, ...]:
    """The messages, with a note of the calls in a part of the reply that is not kept. A hint says
    what can be done, at the first of them."""
    shapes = list(find_calls(dropped))
    if not shapes:
        return tuple(messages)
    read = ReadCalls(call for message in messages for call in message.tool_calls)
    unread: list[JSON] = [str(shape) for shape in shapes if shape not in read]
    if not unread:
        return tuple(messages)
    return _put_on_last(messages, UNREAD, [f"{unread[0]}{hint}", *unread[1:]])


def ignore_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, with a note where something in one looks like a call and doesn't count."""
    read = ReadCalls(call for message in messages for call in message.tool_calls)
    return tuple(
        take_message({**each, UNREAD: []}) if any(unread_in(each, read)) else each
        for each in messages
    )


def note_end(messages: Sequence[Message], reason: str | None) -> tuple[Message, ...]:
    """The messages, the last of the assistant with the reason for its end."""
    said = [message for message in messages if message.role == "assistant"]
    if reason is None or (said and finish_reason_of(said[-1]) is not None):
        return tuple(messages)
    return _put_on_last(messages, "finish_reason", reason)


def _put_on_last(messages: Sequence[Message], key: str, value: JSON) -> tuple[Message, ...]:
    places = [at for at, message in enumerate(messages) if message.role == "assistant"]
    if not places:
        return (*messages, take_message({"role": "assistant", "content": None, key: value}))
    at = places[-1]
    return (*messages[:at], take_message({**messages[at], key: value}), *messages[at + 1 :])


# Bytes that a program or a service wrote.


def read_output(output: Output, how: How, warn: Warn) -> Answer:
    """The answer in some bytes. Raise TargetError where they can't be read as `how` says.

    `text`: all of it is the answer. `json`: it is one JSON value. `auto`: it is text, unless all of
    it is a JSON value in the shape of messages or of a reply, or a mapping of `text` and extras.
    `agentv`: the same, and any mapping with `text`.
    """
    if how == "text":
        return _read_text(output)
    try:
        if output.truncated:
            raise BadJsonError("it was cut")
        value = parse_json(output.data)
    except BadJsonError as error:
        if how != "json":
            refuse_failed(output.data.decode(errors="replace"))
            return _read_text(output)
        details = {"output": cut_bytes(output.data)}
        message = f"the output is not JSON: {error}"
        raise TargetError(message, kind="protocol", details=details) from None
    answer = read_shape(value, warn)
    if answer is None and isinstance(value, dict) and isinstance(value.get("text"), str):
        is_answer = how == "agentv" or value.keys() <= EXTRAS | {"text"}
        answer = read_beside(value, "text", warn) if is_answer else None
    if answer is None and how != "json":
        answer = _read_text(output)
        return replace(answer, messages=note_end(answer.messages, find_end(value)))
    return answer or read_json(value, warn)


def _read_text(output: Output) -> Answer:
    """The output as text, without one line end at its end: most programs print it anyway."""
    text, data = output.data.decode(errors="replace"), output.data
    for end in ("\r\n", "\n"):
        if text.endswith(end):
            text, data = text.removesuffix(end), data.removesuffix(end.encode())
            break
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if text.encode() != data:
        message[_RAW] = b64encode(data).decode()
    return Answer((take_message(message),), truncated=output.truncated)
