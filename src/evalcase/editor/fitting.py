"""Whether a value that is only begun fits a condition of the schemas that evalcase writes: the few
keywords that their conditions use, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from evalcase.types.value import JSON

Find: TypeAlias = Callable[[str], Any]
"""What a reference leads to."""

_TYPES: dict[str, Callable[[JSON], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}


def fits_schema(schema: Any, value: JSON, find: Find) -> bool:  # noqa: ANN401 - a schema is any JSON
    """Whether nothing in a schema speaks against a value."""
    if not isinstance(schema, dict):
        return schema is not False
    if "$ref" in schema and not fits_schema(find(schema["$ref"]), value, find):
        return False
    return all(
        _RULES[keyword](schema, value, find) for keyword in schema if keyword in _RULES
    ) and _fits_choice(schema, value, find)


def _fits_choice(schema: dict[str, Any], value: JSON, find: Find) -> bool:
    if "if" not in schema:
        return True
    branch = "then" if fits_schema(schema["if"], value, find) else "else"
    return fits_schema(schema.get(branch, True), value, find)


def _fits_type(schema: dict[str, Any], value: JSON, _: Find) -> bool:
    kinds = schema["type"]
    return any(_TYPES[each](value) for each in ([kinds] if isinstance(kinds, str) else kinds))


def _fits_properties(schema: dict[str, Any], value: JSON, find: Find) -> bool:
    if not isinstance(value, dict):
        return True
    inner = schema["properties"]
    return all(fits_schema(inner[name], value[name], find) for name in value if name in inner)


def _fits_patterns(schema: dict[str, Any], value: JSON, find: Find) -> bool:
    if not isinstance(value, dict):
        return True
    return all(
        fits_schema(inner, value[name], find)
        for pattern, inner in schema["patternProperties"].items()
        for name in value
        if re.search(pattern, name)
    )


def _fits_names(schema: dict[str, Any], value: JSON, find: Find) -> bool:
    names = value if isinstance(value, dict) else ()
    return all(fits_schema(schema["propertyNames"], name, find) for name in names)


def _fits_items(schema: dict[str, Any], value: JSON, find: Find) -> bool:
    return all(
        fits_schema(schema["items"], each, find) for each in (value if type(value) is list else ())
    )


_RULES: dict[str, Callable[[dict[str, Any], JSON, Find], bool]] = {
    "type": _fits_type,
    "const": lambda schema, value, _: bool(schema["const"] == value),
    "enum": lambda schema, value, _: value in schema["enum"],
    "pattern": lambda schema, value, _: (
        not isinstance(value, str) or bool(re.search(schema["pattern"], value))
    ),
    "required": lambda schema, value, _: (
        not isinstance(value, dict) or all(name in value for name in schema["required"])
    ),
    "minProperties": lambda schema, value, _: (
        not isinstance(value, dict) or len(value) >= schema["minProperties"]
    ),
    "maxProperties": lambda schema, value, _: (
        not isinstance(value, dict) or len(value) <= schema["maxProperties"]
    ),
    "properties": _fits_properties,
    "patternProperties": _fits_patterns,
    "propertyNames": _fits_names,
    "items": _fits_items,
    "allOf": lambda schema, value, find: all(
        fits_schema(each, value, find) for each in schema["allOf"]
    ),
    "anyOf": lambda schema, value, find: any(
        fits_schema(each, value, find) for each in schema["anyOf"]
    ),
    "not": lambda schema, value, find: not fits_schema(schema["not"], value, find),
}
