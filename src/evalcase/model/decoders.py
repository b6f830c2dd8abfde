"""Values of JSON held to a type, one function for each: what doesn't fit is a ValueError that names
it by its path. Nobody is trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evalcase.model.message import Message, names_tool, take_message

Decode = Callable[[Any, str], Any]
"""A value, and the path that it has in messages."""

MOST = 1e300
"""JSON has numbers that are too large for a float: read as one, they are infinity."""


def decode_several(item: Decode) -> Decode:
    def read(value: object, where: str) -> object:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name_path(where)} must be a list")
        return tuple([item(each, f"{where}.{at}") for at, each in enumerate(value)])

    return read


def decode_one_of(choices: tuple[object, ...]) -> Decode:
    def read(value: object, where: str) -> object:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name_path(where)} is {value!r:.60}, which is not known")
        return value

    return read


def decode_mapping(value: object, where: str) -> object:
    if not isinstance(value, dict):
        raise ValueError(f"{name_path(where)} must be a mapping")
    return value


def decode_mapping_of(item: Decode) -> Decode:
    def read(value: object, where: str) -> object:
        if not isinstance(value, dict):
            raise ValueError(f"{name_path(where)} must be a mapping")
        return {name: item(each, path_below(where, name)) for name, each in value.items()}

    return read


def decode_message(value: object, where: str) -> Message:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        raise ValueError(f"{name_path(where)} must be a message")
    calls = value.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(names_tool, calls))):
        raise ValueError(f"`{path_below(where, 'tool_calls')}` must be calls, each of a tool")
    return value if type(value) is Message else take_message(value)


def decode_text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name_path(where)} must be text")
    return value


def decode_truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name_path(where)} must be true or false")
    return value


def decode_count(value: object, where: str) -> int:
    if type(value) is not int or not -MOST <= value <= MOST:
        raise ValueError(f"{name_path(where)} must be a whole number")
    return value


def decode_number(value: object, where: str) -> float:
    if type(value) not in (int, float) or not -MOST <= value <= MOST:  # type: ignore[operator]
        raise ValueError(f"{name_path(where)} must be a number")
    return value  # type: ignore[return-value]


def decode_within(is_count: bool, least: float, most: float) -> Decode:
    allowed = (int,) if is_count else (int, float)
    words = "a whole number" if is_count else "a number"
    words += f" from {least} to {most}" if most < MOST else f" of {least} or more"

    def read(value: object, where: str) -> object:
        if type(value) not in allowed or not least <= value <= most:  # type: ignore[operator]
            raise ValueError(f"{name_path(where)} must be {words}")
        return value

    return read


_WORDS = {str: "text", bool: "true or false", list: "a list", dict: "a mapping"}


def decode_of_kinds(types: tuple[type, ...]) -> Decode:
    names = " or ".join(_WORDS[each] for each in types)

    def read(value: object, where: str) -> object:
        if type(value) not in types:
            raise ValueError(f"{name_path(where)} must be {names}")
        return value

    return read


def decode_anything(value: object, where: str) -> object:
    del where
    return value


PLAIN: dict[Any, Decode] = {
    str: decode_text, bool: decode_truth, int: decode_count, float: decode_number
}  # fmt: skip


def path_below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def name_path(where: str) -> str:
    return f"`{where}`" if where else "it"
