"""Calls somewhere in a reply, where nobody was told to read them: a value to where they are.

A key of the usual names that holds calls, and a block of a list that is one, can mean nothing else.
A list of `{tool, input}` under another name can, and is data.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.model.json_value import JSON
from evalcase.targets.reading.calls import are_calls, find_named, is_call_block, name_of_calls

_Way = tuple[str, ...]


def find_calls(value: JSON) -> str | None:
    """The path of the first calls that there are, at any depth; None if there are none."""
    if isinstance(value, dict) and (name := name_of_calls(value)) is not None:
        return _write_path((name,))
    left: list[tuple[_Way, JSON]] = [((), value)]
    while left:
        way, each = left.pop()
        if (found := _find_here(each)) is not None:
            return _write_path((*way, found))
        left += reversed([((*way, key), item) for key, item in _items_of(each)])
    return None


def _find_here(value: JSON) -> str | None:
    """The key or the number of what is a call, or several, in a mapping or a list."""
    if isinstance(value, dict):
        return find_named(value)
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if is_call_block(item) and are_calls([item]):
            return str(number)
    return None


def _items_of(value: JSON) -> Iterator[tuple[str, JSON]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((str(number), item) for number, item in enumerate(value))


def _write_path(way: _Way) -> str:
    """A path that an option can have: a JSON pointer where a key has a dot in it."""
    if all(step and "." not in step and "/" not in step for step in way):
        return ".".join(way)
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in way)
