"""Values to JSON objects and back.

A field that has its default is left out. Reading trusts nobody: every value is held to the type of
its field, and what doesn't fit is a ValueError that names it by its path.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import NODEFAULT, Struct, structs

from evalcase.model.message import Message, names_tool, take_message
from evalcase.model.trial_key import TrialKey

T = TypeVar("T")

_MOST = 1e300
"""JSON has numbers that are too large for a float: nothing is counted so far."""

_COMPLAINT = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_WRONG = re.compile(r"Expected `(.*?)`(?: >= (\d+))?.*", re.DOTALL)
_CHOICE = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_WORDS = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "array": "a list", "object": "a mapping",
}  # fmt: skip


def encode_object(value: object) -> dict[str, Any]:
    """The JSON object of a value. It shares dicts and lists with it."""
    return encode_after({}, value)


def encode_after(begun: dict[str, Any], value: object) -> dict[str, Any]:
    """The same, put into an object that is begun: after what that has. Raise ValueError for a
    number that would be refused when it is read."""
    kind: Any = type(value)
    for name, default, is_number in _list_fields(kind):
        item = getattr(value, name)
        if isinstance(item, TrialKey):  # its fields stand in its place
            begun |= item._asdict()
        elif default is NODEFAULT or item != default:
            if is_number:
                _check_number(name, item)
            begun[name] = _encode(item)
    return begun


def decode_object(wanted: type[T], data: object, where: str = "") -> T:
    """The value that `encode_object` was given. Raise ValueError if there can be none."""
    if isinstance(data, dict) and wanted.__annotations__.get("key") == TrialKey.__name__:
        names = TrialKey._fields
        for name in names:
            if name not in data:
                raise ValueError(f"`{name}` is missing")
        if "key" in data:
            raise ValueError("`key` is not known")
        rest = {name: item for name, item in data.items() if name not in names}
        data = {"key": [data[name] for name in names], **rest}
    try:
        _refuse_unknown(wanted, data)
        value = msgspec.convert(data, wanted, dec_hook=_decode_message)
        _check_numbers(value, where)
        return value
    except msgspec.ValidationError as error:
        raise ValueError(_explain(str(error), where)) from None


def _refuse_unknown(wanted: Any, data: object) -> None:  # noqa: ANN401 - a Struct or a dataclass
    """Raise ValidationError for keys that a dataclass hasn't got: only Structs do so themselves."""
    if not dataclasses.is_dataclass(wanted) or not isinstance(data, dict):
        return
    kind: Any = wanted
    known = {name: default for name, default, _ in _list_fields(kind)}
    for name, item in data.items():
        if name not in known:
            raise msgspec.ValidationError(f"Object contains unknown field `{name}`")
        _refuse_unknown(type(known[name]), item)


def _check_numbers(value: object, where: str) -> None:
    """Raise ValueError for a number in the fields of a value, or below them, that is out of all
    range."""
    if isinstance(value, tuple):
        for number, each in enumerate(value):
            _check_numbers(each, f"{where}.{number}")
        return
    kind: Any = type(value)
    if not isinstance(value, Struct) and not dataclasses.is_dataclass(value):
        return
    for name, _, is_number in _list_fields(kind):
        path = f"{where}.{name}" if where else name
        if is_number:
            _check_number(path, getattr(value, name))
        else:
            _check_numbers(getattr(value, name), path)


def _check_number(path: str, value: object) -> None:
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, int | float) and not -_MOST <= each <= _MOST:
            raise ValueError(f"`{path}` must be a number from -{_MOST:g} to {_MOST:g}")


@cache
def _list_fields(wanted: Any) -> tuple[tuple[str, object, bool], ...]:  # noqa: ANN401 - a class
    """The fields of a Struct or a dataclass: the name of each, its default, NODEFAULT where it has
    none, and whether it is a number."""
    is_struct = issubclass(wanted, Struct)
    listed: Any = structs.fields(wanted) if is_struct else dataclasses.fields(wanted)
    missing: Any = NODEFAULT if is_struct else dataclasses.MISSING
    found = []
    for each in listed:
        has_factory = each.default_factory is not missing
        default = each.default_factory() if has_factory else each.default
        hint = str(each.type)
        is_number = ("int" in hint or "float" in hint) and "str" not in hint and "Any" not in hint
        found.append((each.name, NODEFAULT if default is missing else default, is_number))
    return tuple(found)


def _encode(value: object) -> object:
    if isinstance(value, Struct) or dataclasses.is_dataclass(value):
        return encode_object(value)
    if isinstance(value, tuple):
        return [_encode(each) for each in value]
    if type(value) is dict:
        return {key: _encode(item) for key, item in value.items()}
    return value


def _decode_message(wanted: type, value: object) -> object:
    if wanted is not Message:
        raise NotImplementedError(f"{wanted} can't be read")
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        raise ValueError("Expected `a message`")
    calls = value.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(names_tool, calls))):
        raise ValueError("Expected `a message whose calls each name a tool`")
    return value if type(value) is Message else take_message(value)


def _explain(complaint: str, where: str) -> str:
    """What doesn't fit, in plain words: `usage.input_tokens` must be a whole number."""
    match = _COMPLAINT.fullmatch(complaint)
    assert match is not None
    path = (match["path"] or "$").removeprefix("$").removeprefix(".")
    path = f"{where}.{path}" if where and path else where or path
    path = re.sub(r"\[(\d+)\]", r".\1", path).replace("[...]", ".*")
    for pattern, words in ((_UNKNOWN, "is not known"), (_MISSING, "is missing")):
        if found := pattern.fullmatch(match["what"]):
            return f"`{path}.{found[1]}` {words}" if path else f"`{found[1]}` {words}"
    named = f"`{path}`" if path else "it"
    if found := _CHOICE.fullmatch(match["what"]):
        return f"{named} is {found[1]}, which is not known"
    if found := _WRONG.fullmatch(match["what"]):
        types = [each for each in found[1].split(" | ") if each != "null"]
        least = f" of {found[2]} or more" if found[2] else ""
        return f"{named} must be {' or '.join(_WORDS.get(each, each) for each in types)}{least}"
    return f"{named}: {match['what']}"
