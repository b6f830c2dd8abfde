"""JSON values: the type, and the two questions that plain Python answers too loosely."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"
else:
    JSON = Any  # a type of itself is nothing that msgspec reads


JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
"""The types of values by the names that JSON Schema has for them."""
MAX_DEPTH = 100
"""How deep values may be nested, in any format."""


def copy_value(value: Any) -> Any:
    """A deep copy of a JSON value, so that the caller may change what it got."""
    try:
        return _copy_inside(value)
    except RecursionError:
        # Files are never so deep, but what a program hands over may be.
        return _copied_without_recursion(value)


def _copy_inside(value: Any) -> Any:
    # Most items are texts: to tell them apart here saves a call for each.
    if isinstance(value, dict):
        return {
            key: item if type(item) is str else _copy_inside(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [item if type(item) is str else _copy_inside(item) for item in value]
    return value


def _copied_without_recursion(value: Any) -> Any:
    root: list[Any] = [value]
    containers: list[Any] = [root]
    while containers:
        container = containers.pop()
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in list(pairs):
            if isinstance(item, dict | list):
                container[key] = dict(item) if isinstance(item, dict) else list(item)
                containers.append(container[key])
    return root[0]


def are_same(left: object, right: object) -> bool:
    """Whether two values are equal as JSON: `1` is `1.0`, but `true` is not `1`."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(are_same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(are_same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def write_alike(value: JSON) -> str:
    """A text that is the same for values that are: whatever the order of their keys, and with
    `1.0` written as `1`."""
    return dumps(_even_numbers(value), sort_keys=True)


def _even_numbers(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _even_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_even_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def describe_kind(value: object) -> str:
    """What to call a value when talking to a person: `a string`, `a mapping`, …"""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "a list"
    return "a mapping" if isinstance(value, dict) else "a date or a time"


def measure_depth(value: JSON, limit: int) -> int:
    """How many containers are nested in one another, counted no further than `limit` + 1."""
    reached, level = 0, [value]
    while reached <= limit:
        inner: list[JSON] = []
        has_containers = False
        for each in level:
            if isinstance(each, list):
                has_containers = True
                inner += each
            elif isinstance(each, dict):
                has_containers = True
                inner += each.values()
        if not has_containers:
            break
        reached += 1
        level = inner
    return reached
