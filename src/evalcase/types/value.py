"""JSON values: their type, how they are read, copied and compared; and the base of the nouns."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from math import isinf
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from msgspec import Struct, structs


class Value(
    Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True
):
    """A plain value. Written as JSON, it leaves out the fields that have their defaults."""


replace = structs.replace
"""A copy of a value with other fields."""


if TYPE_CHECKING:
    JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"
else:
    JSON = Any  # msgspec reads no recursive type


MAX_DEPTH = 100
"""How deep values may be nested, in any format."""


def copy_value(value: Any) -> Any:
    """A deep copy of a JSON value, in plain dicts and lists."""
    if isinstance(value, dict):
        return {key: copy_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copy_value(item) for item in value]
    return value


def are_same(left: object, right: object) -> bool:
    """Whether two values are equal as JSON: `1` is `1.0`, but `true` is not `1`."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(are_same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(are_same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def canonical_text(value: JSON) -> str:
    """A text that is the same for equal values, in any order of keys, with `1.0` as `1`."""
    return json.dumps(_even_numbers(value), sort_keys=True)


def _even_numbers(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _even_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_even_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_KINDS: dict[type, str] = {
    type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string",
    list: "a list", dict: "a mapping",
}  # fmt: skip


def describe_kind(value: object) -> str:
    """The kind of a value in words for people: `a string`, `a mapping`, …"""
    kinds = (words for kind, words in _KINDS.items() if isinstance(value, kind))
    return next(kinds, "a date or a time")


def measure_depth(value: JSON, limit: int) -> int:
    """How many containers are nested in one another, counted up to `limit` + 1."""
    depth, level = 0, [value]
    while depth <= limit:
        containers = [each for each in level if isinstance(each, list | dict)]
        if not containers:
            break
        depth += 1
        level = [
            item
            for each in containers
            for item in (each.values() if isinstance(each, dict) else each)
        ]
    return depth


class BadJsonError(ValueError):
    """A text is not strict JSON. The message continues `it is not JSON: `."""


def _read_object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value = dict(pairs)
    if len(value) < len(pairs):
        left = dict(value)
        twice = next(key for key, _ in pairs if left.pop(key, left) is left)
        shown = json.dumps(twice[:80]) + ("…" if len(twice) > 80 else "")
        raise BadJsonError(f"it has the key {shown} twice")
    return value


def _read_float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise BadJsonError(f"the number {text:.40} is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise BadJsonError(f"{name} is not a JSON value")


decode_strictly = json.JSONDecoder(
    object_pairs_hook=_read_object, parse_float=_read_float, parse_constant=_refuse_constant
).decode
"""The value of a JSON text. It raises ValueError or RecursionError."""


def fits_pattern(name: str, pattern: str) -> bool:
    """Whether a name matches a glob with `*` and `?`."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))
