"""Keywords that look at one value alone: each says what is wrong with it, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evalcase.graders.compare.excerpt import quote_value, write_count
from evalcase.graders.compare.field_match import is_type
from evalcase.graders.compare.lenience import is_number
from evalcase.graders.schema.formats import FORMATS
from evalcase.model.json_value import JSON, are_same, describe_kind, write_alike

KeywordRule = Callable[[Any, Any], str | None]


def _type(wanted: str | list[str], value: JSON) -> str | None:
    several = [wanted] if isinstance(wanted, str) else wanted
    if any(is_type(value, each) for each in several):
        return None
    return f"expected {' or '.join(several)}, got {describe_kind(value)}: {quote_value(value)}"


def _enum(choices: list[JSON], value: JSON) -> str | None:
    if any(are_same(each, value) for each in choices):
        return None
    more = ", …" if len(choices) > 10 else ""
    listed = ", ".join(map(quote_value, choices[:10]))
    return f"expected one of {listed}{more}, got {quote_value(value)}"


def _const(wanted: JSON, value: JSON) -> str | None:
    return (
        None
        if are_same(wanted, value)
        else f"expected {quote_value(wanted)}, got {quote_value(value)}"
    )


def _required(names: list[str], value: JSON) -> str | None:
    missing = [name for name in names if isinstance(value, dict) and name not in value]
    return f"{', '.join(map(quote_value, missing))} missing" if missing else None


def _dependent(needs: dict[str, list[str]], value: JSON) -> str | None:
    if not isinstance(value, dict):
        return None
    for name, others in needs.items():
        missing = [each for each in others if name in value and each not in value]
        if missing:
            return (
                f"{', '.join(map(quote_value, missing))} missing, which {quote_value(name)} needs"
            )
    return None


def _bound(words: str, is_beyond: Callable[[float, float], bool]) -> KeywordRule:
    def rule(limit: float, value: JSON) -> str | None:
        if not is_number(value) or not is_beyond(value, limit):  # type: ignore[arg-type]
            return None
        return f"{quote_value(value)} is {words} {quote_value(limit)}"

    return rule


def _multiple(of: float, value: JSON) -> str | None:
    if not is_number(value):
        return None
    from fractions import Fraction  # slow to import, and seldom needed

    # By what is written, so that 0.3 is a multiple of 0.1.
    is_whole = (Fraction(repr(value)) / Fraction(repr(of))).denominator == 1
    return None if is_whole else f"{quote_value(value)} is not a multiple of {quote_value(of)}"


def _size(of: type, noun: str, *, least: bool) -> KeywordRule:
    def rule(limit: float, value: Any) -> str | None:  # noqa: ANN401 - any JSON
        if not isinstance(value, of):
            return None
        length = len(value)  # type: ignore[arg-type]
        if length >= limit if least else length <= limit:
            return None
        wanted = "at least {:g} needed" if least else "at most {:g} allowed"
        return f"{write_count(length, noun)}, {wanted.format(limit)}"

    return rule


def _unique(is_wanted: bool, value: JSON) -> str | None:
    if not is_wanted or not isinstance(value, list):
        return None
    seen: set[str] = set()
    for item in value:
        key = write_alike(item)
        if key in seen:
            return f"the item {quote_value(item)} is there twice"
        seen.add(key)
    return None


def _format(name: str, value: JSON) -> str | None:
    if not isinstance(value, str) or FORMATS[name](value):
        return None
    return f"{quote_value(value)} is not of the format {name}"


RULES: dict[str, KeywordRule] = {
    "type": _type, "enum": _enum, "const": _const, "required": _required,
    "dependentRequired": _dependent, "format": _format, "uniqueItems": _unique,
    "multipleOf": _multiple,
    "minimum": _bound("less than", lambda value, limit: value < limit),
    "maximum": _bound("more than", lambda value, limit: value > limit),
    "exclusiveMinimum": _bound("not more than", lambda value, limit: value <= limit),
    "exclusiveMaximum": _bound("not less than", lambda value, limit: value >= limit),
    "minLength": _size(str, "character", least=True),
    "maxLength": _size(str, "character", least=False),
    "minItems": _size(list, "item", least=True),
    "maxItems": _size(list, "item", least=False),
    "minProperties": _size(dict, "key", least=True),
    "maxProperties": _size(dict, "key", least=False),
}  # fmt: skip
