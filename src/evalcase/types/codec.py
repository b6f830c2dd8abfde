"""Structs to JSON objects and back, for the record and for workers.

Reading trusts nothing: every value must have the type of its field, and a ValueError names the
path of one that has not.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from evalcase.types.message import Message, names_tool, take_message
from evalcase.types.value import copy_value

T = TypeVar("T")


def encode_object(value: Struct) -> dict[str, Any]:
    """The JSON object of a value, without the fields that have their defaults."""
    encoded: dict[str, Any] = copy_value(msgspec.to_builtins(value))  # it leaves tuples
    return encoded


def decode_object(wanted: type[T], data: object, where: str = "") -> T:
    """The value of a JSON object that `encode_object` made. Raise ValueError for any other."""
    try:
        return msgspec.convert(data, wanted, dec_hook=decode_message)
    except msgspec.ValidationError as error:
        raise ValueError(explain_error(str(error), where)) from None


def decode_message(wanted: type, value: object) -> object:
    """A hook for msgspec: it reads messages."""
    if wanted is not Message:
        raise NotImplementedError(f"{wanted} can't be read")
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        raise ValueError("Expected `a message`")
    calls = value.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(names_tool, calls))):
        raise ValueError("Expected `a message whose calls each name a tool`")
    return take_message(value)


_COMPLAINT = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>.*)`)?", re.DOTALL)
_FIELD = re.compile(r"Object (?:contains (unknown)|missing required) field `(.*)`", re.DOTALL)
_CHOICE = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_WRONG = re.compile(r"Expected `(.*?)`(?: >= (\d+))?.*", re.DOTALL)
_WORDS = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "array": "a list", "object": "a mapping",
}  # fmt: skip


def explain_error(complaint: str, where: str = "") -> str:
    """A complaint of msgspec in plain words: `usage.input_tokens` must be a whole number."""
    match = _COMPLAINT.fullmatch(complaint)
    assert match is not None
    inside = re.sub(r"\[(\d+)\]", r".\1", (match["path"] or "").removeprefix("$"))
    path = (where + inside.replace("[...]", ".*")).strip(".")
    if found := _FIELD.fullmatch(match["what"]):
        words = "is not known" if found[1] else "is missing"
        return f"`{f'{path}.{found[2]}'.strip('.')}` {words}"
    named = f"`{path}`" if path else "it"
    if found := _CHOICE.fullmatch(match["what"]):
        return f"{named} is {found[1]:.60}, which is not known"
    if found := _WRONG.fullmatch(match["what"]):
        types = [_WORDS.get(each, each) for each in found[1].split(" | ") if each != "null"]
        least = f" of {found[2]} or more" if found[2] else ""
        return f"{named} must be {' or '.join(types)}{least}"
    return f"{named}: {match['what']}"
