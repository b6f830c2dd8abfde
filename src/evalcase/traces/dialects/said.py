"""What was said, in the form that all dialects are brought into: messages as a suite has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from evalcase.traces.span import BadTraceError
from evalcase.types.message import OTHER_ROLES, ROLES
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json

SaidMessage = dict[str, Any]


class SpanMessages(NamedTuple):
    """The messages that a model was given, and those that it gave."""

    input: list[SaidMessage]
    output: list[SaidMessage]


def read_numbered(
    attributes: dict[str, JSON],
    given: str,
    made: str,
    read: Callable[[dict[str, JSON], str], SaidMessage],
) -> SpanMessages | None:
    """The messages below two prefixes, each read with the role that is usual there; None where
    there are none."""
    before = [read(each, "user") for each in group_numbered(attributes, given)]
    after = [read(each, "assistant") for each in group_numbered(attributes, made)]
    return SpanMessages(before, after) if before or after else None


def parse_attribute(value: JSON, name: str) -> JSON:
    """An attribute that holds JSON as text, or the value itself. Raise BadTraceError."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except BadJsonError as error:
        why = f"`{name}` is not JSON: {error}"
        hint = "was it cut? OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT says where"
        raise BadTraceError(f"{why} ({hint})") from None


def data_or_text(value: JSON) -> JSON:
    """What stands for itself if it is text, and for an object or a list if it is JSON of one."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return parse_json(value)
    except BadJsonError:
        return value


def speaker_of(value: JSON, usual: str) -> str:
    role = value if isinstance(value, str) else usual
    role = OTHER_ROLES.get(role, role)
    return role if role in ROLES else usual


def call_of(name: JSON, arguments: JSON, id: JSON) -> dict[str, Any]:
    """A call of a tool in the short form."""
    call: dict[str, Any] = {"tool": name if isinstance(name, str) else "a tool without a name"}
    given = data_or_text(arguments)
    if given is not None:
        call["input"] = given
    if isinstance(id, str) and id:
        call["id"] = id
    return call


def message_of(role: str, content: JSON, calls: list[dict[str, Any]]) -> SaidMessage:
    """A message; without content where it has only calls."""
    message: SaidMessage = {"role": role}
    if content is not None and not (content == "" and calls):
        message["content"] = content
    if calls:
        message["tool_calls"] = calls
    return message if len(message) > 1 else {**message, "content": ""}


def group_numbered(attributes: dict[str, JSON], prefix: str) -> list[dict[str, JSON]]:
    """`PREFIX.0.a`, `PREFIX.0.b.c`, `PREFIX.1.a` to one mapping for each number, in order."""
    found: dict[int, dict[str, JSON]] = {}
    start = f"{prefix}."
    for name, value in attributes.items():
        if name.startswith(start):
            number, is_more, rest = name[len(start) :].partition(".")
            if is_more and number.isascii() and number.isdecimal() and len(number) < 7:
                found.setdefault(int(number), {})[rest] = value
    return [found[number] for number in sorted(found)]
