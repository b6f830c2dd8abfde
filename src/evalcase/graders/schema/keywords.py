"""Which keywords a schema may have, and what the value of each must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from evalcase.graders.schema.formats import FORMATS, FORMATS_ELSEWHERE
from evalcase.types.options import object_to_pattern
from evalcase.types.value import JSON, describe_kind

_JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")

ONE = ("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else")
"""Their value is a schema."""
SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
"""Their value is a list of schemas."""
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Their value is a mapping of schemas."""
NOTES = (
    "$schema", "$id", "$anchor", "$comment", "title", "description", "default", "examples",
    "deprecated", "readOnly", "writeOnly",
)  # fmt: skip
"""They say nothing of what is valid."""
ONE_ELSEWHERE = ("unevaluatedProperties", "unevaluatedItems")
ELSEWHERE = (*ONE_ELSEWHERE, "dependencies", "$dynamicRef", "$dynamicAnchor", "$vocabulary")
"""They exist, and need the extra `schema`; the value of the first two is a schema."""
BESIDE = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
"""They say nothing of what is valid unless another keyword stands beside them."""
IDLE = {
    "additionalItems": "JSON Schema 2020-12 has `items` for what follows `prefixItems`",
    **dict.fromkeys(
        ("contentEncoding", "contentMediaType", "contentSchema"),
        "in JSON Schema 2020-12 it is a note, by which no answer would be checked: leave it out",
    ),
}
"""They are written as if they said what is valid, and say nothing: what to do in place of each."""


class KeywordFault(NamedTuple):
    """What is wrong with the value of a keyword, and where below it."""

    below: tuple[str | int, ...]
    what: str


CheckKeyword = Callable[[JSON], Iterator[KeywordFault]]


def _check_shape(is_right: Callable[[JSON], bool], words: str) -> CheckKeyword:
    def check(value: JSON) -> Iterator[KeywordFault]:
        if not is_right(value):
            yield KeywordFault((), f"is {words}, not {describe_kind(value)}")

    return check


def _is_count(value: JSON) -> bool:
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return is_whole and not isinstance(value, bool) and value >= 0  # type: ignore[operator]


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_texts(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _check_type(value: JSON) -> Iterator[KeywordFault]:
    several = value if isinstance(value, list) and value else [value]
    for each in several:
        if each not in _JSON_TYPES:
            yield KeywordFault(
                (), f"is one of {', '.join(_JSON_TYPES)}, or a list of them, not {each!r:.40}"
            )


def _check_pattern(value: JSON) -> Iterator[KeywordFault]:
    why = object_to_pattern(value) if isinstance(value, str) else "it is not text"
    if why is not None:
        yield KeywordFault((), f"is not a pattern: {why}")


def _check_format(value: JSON) -> Iterator[KeywordFault]:
    if not isinstance(value, str) or value not in (*FORMATS, *FORMATS_ELSEWHERE):
        yield KeywordFault((), f"is one of {', '.join(FORMATS)}, not {value!r:.40}")


def _check_dependents(value: JSON) -> Iterator[KeywordFault]:
    if not isinstance(value, dict):
        yield KeywordFault((), "is a mapping of lists of names")
        return
    for key, names in value.items():
        if not _are_texts(names):
            yield KeywordFault((key,), "is a list of names")


_COUNT = _check_shape(_is_count, "a whole number of 0 or more")
_NUMBER = _check_shape(_is_number, "a number")

PLAIN_KEYWORDS: dict[str, CheckKeyword] = {
    "type": _check_type,
    "enum": _check_shape(lambda value: isinstance(value, list), "a list of values"),
    "const": _check_shape(lambda _: True, "any value"),
    "required": _check_shape(_are_texts, "a list of names"),
    "dependentRequired": _check_dependents,
    "pattern": _check_pattern,
    "format": _check_format,
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": _NUMBER,
    "exclusiveMaximum": _NUMBER,
    "multipleOf": _check_shape(
        lambda value: _is_number(value) and value > 0,  # type: ignore[operator]
        "a number over 0",
    ),
    "uniqueItems": _check_shape(lambda value: isinstance(value, bool), "true or false"),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
         "minContains", "maxContains"),
        _COUNT,
    ),
}  # fmt: skip

KNOWN = (*PLAIN_KEYWORDS, *ONE, *SEVERAL, *NAMED, *NOTES, "$ref")
