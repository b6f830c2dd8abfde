"""JSON values: their type, how they are read, copied and compared; and the base of the nouns, with
their way to JSON and back."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from math import isinf
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import msgspec
from msgspec import Struct, structs

T = TypeVar("T")


class Value(
    Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True
):
    """A plain value. Written as JSON, it leaves out the fields that have their defaults."""


replace = structs.replace


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


def expect(fits: bool, rule: str, value: object) -> None:
    """Raise ValueError with the rule where Python code makes a noun of something else."""
    if not fits:
        raise ValueError(f"{rule}, not {value!r:.60}")


def encode_object(value: Struct) -> dict[str, Any]:
    """The JSON object of a value, without the fields that have their defaults."""
    encoded: dict[str, Any] = copy_value(msgspec.to_builtins(value))  # it leaves tuples
    return encoded


def decode_object(wanted: type[T], data: object, where: str = "") -> T:
    """The value of a JSON object that `encode_object` made. It trusts nothing: raise ValueError for
    any other, with the path that is wrong; the path begins with `where`."""
    try:
        return msgspec.convert(data, wanted, dec_hook=decode_hook)
    except msgspec.ValidationError as error:
        raise ValueError(explain_error(error, where)) from None


def decode_hook(wanted: Any, value: object) -> object:
    """For msgspec: reads types that it doesn't know, which are messages."""
    return wanted.decode(value)


def explain_error(error: msgspec.ValidationError, where: str = "") -> str:
    """The complaint of msgspec, with the path as evalcase writes it: `usage.input_tokens`."""
    what, _, path = str(error).partition(" - at `$")
    inside = re.sub(r"\[(\d+)\]", r".\1", path.rstrip("`")).replace("[...]", ".*")
    path = f"{where}{inside}".strip(".")
    return f"`{path:.120}`: {what:.120}" if path else f"{what:.120}"


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
    if not isinstance(value, list | dict):
        return 0
    if limit == 0:
        return 1
    items = value.values() if isinstance(value, dict) else value
    return 1 + max((measure_depth(item, limit - 1) for item in items), default=0)


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
