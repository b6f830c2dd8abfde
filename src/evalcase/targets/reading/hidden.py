"""Calls somewhere in a reply, where nobody was told to read them: a value to where they are.

A key of the usual names that holds calls, and a block of a list that is one, can mean nothing else.
A list of `{tool, input}` under another name can, and is data.
"""

from __future__ import annotations

from evalcase.model.json_value import JSON
from evalcase.targets.reading.calls import are_calls, find_named, is_call_block, name_of_calls


def find_calls(value: JSON) -> str | None:
    """The path of the first calls that there are, at any depth; None if there are none."""
    name = name_of_calls(value)
    way = _find_way(value) if name is None else [name]
    return None if way is None else _write_path(way)


def _find_way(value: JSON) -> list[str] | None:
    """The keys and numbers that lead to calls."""
    if isinstance(value, dict):
        return _find_in_mapping(value)
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict) and is_call_block(item) and are_calls([item]):
            return [str(number)]
        if isinstance(item, dict | list) and (way := _find_way(item)) is not None:
            return [str(number), *way]
    return None


def _find_in_mapping(value: dict[str, JSON]) -> list[str] | None:
    name = find_named(value)
    if name is not None:
        return [name]
    for key, item in value.items():
        if isinstance(item, dict | list) and (way := _find_way(item)) is not None:
            return [key, *way]
    return None


def _write_path(way: list[str]) -> str:
    """A path that an option can have: a JSON pointer where a key has a dot in it."""
    if all(step and "." not in step and "/" not in step for step in way):
        return ".".join(way)
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in way)
