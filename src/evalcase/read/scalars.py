"""Plain YAML scalars to values, by the YAML 1.2 core schema and nothing more."""

from __future__ import annotations

import re
from math import isinf

MAX_DIGITS = 4300

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

USUAL_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,6})(\.(?:0|[0-9]{0,7}[1-9]))?")
"""A number as nearly all are written: it has few digits, and is written as it will be."""

WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip

STARTS = frozenset("~nNtTfF-+.0123456789") | {""}
"""The first characters of plain scalars that may be anything but a string."""


class NotJsonScalarError(ValueError):
    """A scalar that is a number in YAML and nothing in JSON."""


def read_plain(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar. Raise NotJsonError for what JSON can't hold."""
    if text in WORDS:
        return WORDS[text]
    if _INTEGER.fullmatch(text):
        return read_decimal(text)
    if _FLOAT.fullmatch(text):
        return read_float(text)
    if _OCTAL.fullmatch(text):
        return _read_bounded(text, 8)
    if _HEXADECIMAL.fullmatch(text):
        return _read_bounded(text, 16)
    if _NOT_FINITE.fullmatch(text):
        raise NotJsonScalarError(f"`{text}` can't be written as JSON")
    return text


def keeps_spelling(text: str, as_json: bool = False) -> bool:
    """Whether a plain scalar is no number, or one that is written as it will be.

    JSON comes from programs, which have their own ways with exponents: there it is enough that no
    digit is lost.
    """
    try:
        value = read_plain(text)
    except NotJsonScalarError:
        return True
    if type(value) not in (int, float) or repr(value) == text:
        return True
    if not as_json:
        return False
    from decimal import Decimal

    has_zeros = "." in text and text.endswith("0") and not text.endswith(".0")
    return not has_zeros and Decimal(text) == Decimal(repr(value))


def read_decimal(text: str) -> int:
    if len(text) > MAX_DIGITS and len(text.lstrip("+-")) > MAX_DIGITS:
        raise NotJsonScalarError(_TOO_MANY_DIGITS)
    try:
        return int(text)
    except ValueError:
        # The process may have been given a lower limit than usual.
        raise NotJsonScalarError(
            "the integer has more digits than this Python is set to read"
        ) from None


_TOO_MANY_DIGITS = f"an integer may have at most {MAX_DIGITS:,} digits"


def read_float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise NotJsonScalarError(f"`{text}` is too large for a number")
    return number


def _read_bounded(text: str, base: int) -> int:
    number = int(text[2:], base)
    if len(text) > _FEW_DIGITS:
        # Only the decimal form, in which JSON has it, says whether it has too many.
        read_decimal(_decimal_form(number))
    return number


_FEW_DIGITS = 500
"""No process can be set to read fewer decimal digits than these make in any base."""


def _decimal_form(number: int) -> str:
    if number >= 10**MAX_DIGITS:
        raise NotJsonScalarError(_TOO_MANY_DIGITS)
    try:
        return str(number)
    except ValueError:
        raise NotJsonScalarError(
            "the integer has more digits than this Python is set to read"
        ) from None


def read_tagged(text: str, tag: str) -> str | int | float | bool | None:
    """The value of a scalar with a core tag. Raise ValueError where the two don't fit."""
    if tag == "str":
        return text
    value = read_plain(text)
    if tag == "float" and type(value) is int:
        return read_float(text if _FLOAT.fullmatch(text) else str(value))
    fits = {"null": value is None, "bool": type(value) is bool, "int": type(value) is int}
    if fits.get(tag, type(value) is float):
        return value
    raise ValueError(f"`{text}` is not a `!!{tag}`")
