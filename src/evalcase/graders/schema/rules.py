"""Keywords that look at one value alone: each says what is wrong with it, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.field_match import is_type
from evalcase.graders.compare.lenience import is_number
from evalcase.graders.schema.formats import FORMATS
from evalcase.types.value import JSON, are_same, describe_kind, write_alike
from evalcase.util.text import write_count

KeywordRule = Callable[[Any, Any], str | None]


def _check_type(wanted: str | list[str], value: JSON) -> str | None:
    several = [wanted] if isinstance(wanted, str) else wanted
    if any(is_type(value, each) for each in several):
        return None
    return f"expected {' or '.join(several)}, got {describe_kind(value)}: {quote_value(value)}"


def _check_enum(choices: list[JSON], value: JSON) -> str | None:
    if any(are_same(each, value) for each in choices):
        return None
    more = ", …" if len(choices) > 10 else ""
    listed = ", ".join(map(quote_value, choices[:10]))
    return f"expected one of {listed}{more}, got {quote_value(value)}"


def _check_const(wanted: JSON, value: JSON) -> str | None:
    return (
        None
        if are_same(wanted, value)
        else f"expected {quote_value(wanted)}, got {quote_value(value)}"
    )


def _check_required(names: list[str], value: JSON) -> str | None:
    missing = [name for name in names if isinstance(value, dict) and name not in value]
    return f"{', '.join(map(quote_value, missing))} missing" if missing else None


def _check_dependent(needs: dict[str, list[str]], value: JSON) -> str | None:
    if not isinstance(value, dict):
        return None
    for name, others in needs.items():
        missing = [each for each in others if name in value and each not in value]
        if missing:
            return (
                f"{', '.join(map(quote_value, missing))} missing, which {quote_value(name)} needs"
            )
    return None


def _make_bound_rule(words: str, is_beyond: Callable[[float, float], bool]) -> KeywordRule:
    def rule(limit: float, value: JSON) -> str | None:
        if not is_number(value) or not is_beyond(value, limit):  # type: ignore[arg-type]
            return None
        return f"{quote_value(value)} is {words} {quote_value(limit)}"

    return rule


def _check_multiple(of: float, value: JSON) -> str | None:
    if not is_number(value):
        return None
    from fractions import Fraction  # slow to import, and seldom needed

    # By what is written, so that 0.3 is a multiple of 0.1.
    is_whole = (Fraction(repr(value)) / Fraction(repr(of))).denominator == 1
    return None if is_whole else f"{quote_value(value)} is not a multiple of {quote_value(of)}"


def _make_size_rule(of: type, noun: str, *, least: bool) -> KeywordRule:
    def rule(limit: float, value: Any) -> str | None:  # noqa: ANN401 - any JSON
        if not isinstance(value, of):
            return None
        length = len(value)  # type: ignore[arg-type]
        if length >= limit if least else length <= limit:
            return None
        wanted = "at least {:g} needed" if least else "at most {:g} allowed"
        return f"{write_count(length, noun)}, {wanted.format(limit)}"

    return rule


def _check_unique(is_wanted: bool, value: JSON) -> str | None:
    if not is_wanted or not isinstance(value, list):
        return None
    seen: set[str] = set()
    for item in value:
        key = write_alike(item)
        if key in seen:
            return f"the item {quote_value(item)} is there twice"
        seen.add(key)
    return None


def _check_format(name: str, value: JSON) -> str | None:
    if not isinstance(value, str) or FORMATS[name](value):
        return None
    return f"{quote_value(value)} is not of the format {name}"


RULES: dict[str, KeywordRule] = {
    "type": _check_type, "enum": _check_enum, "const": _check_const, "required": _check_required,
    "dependentRequired": _check_dependent, "format": _check_format, "uniqueItems": _check_unique,
    "multipleOf": _check_multiple,
    "minimum": _make_bound_rule("less than", lambda value, limit: value < limit),
    "maximum": _make_bound_rule("more than", lambda value, limit: value > limit),
    "exclusiveMinimum": _make_bound_rule("not more than", lambda value, limit: value <= limit),
    "exclusiveMaximum": _make_bound_rule("not less than", lambda value, limit: value >= limit),
    "minLength": _make_size_rule(str, "character", least=True),
    "maxLength": _make_size_rule(str, "character", least=False),
    "minItems": _make_size_rule(list, "item", least=True),
    "maxItems": _make_size_rule(list, "item", least=False),
    "minProperties": _make_size_rule(dict, "key", least=True),
    "maxProperties": _make_size_rule(dict, "key", least=False),
}  # fmt: skip
