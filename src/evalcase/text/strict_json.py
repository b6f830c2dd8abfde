"""JSON that programs, models, agents and records wrote: a text in, the value it stands for out.

It is read strictly, because its readers disagree on the rest: the same key twice, NaN, numbers that
no float or integer holds, and nesting without end are faults, and never a crash.
"""

from __future__ import annotations

from json import JSONDecodeError
from typing import Any, NoReturn

from evalcase.model.json_decoder import BadJsonError, decode_strictly
from evalcase.model.json_value import JSON, measure_depth

__all__ = [
    "DEEPEST",
    "DEEPEST_ROW",
    "BadJsonError",
    "may_be_deep",
    "parse_json",
    "parse_object",
    "parse_row",
]

DEEPEST = 100
"""As deep as a suite may nest its values."""
DEEPEST_ROW = 200
"""The same for a line that a value stands in, be it of a journal or of a file of answers."""


def parse_json(source: str | bytes, deepest: int = DEEPEST) -> JSON:
    """The one value of a text. BadJsonError if there is none that could be kept as it stands."""
    return _parse_source(source, deepest)


def parse_object(source: str | bytes, deepest: int = DEEPEST) -> dict[str, Any]:
    """The same, where the value has to be an object."""
    return _object_of(_parse_source(source, deepest))


def parse_row(text: str) -> dict[str, Any]:
    """The object of a row that evalcase wrote, or somebody who knows how to make its checksum."""
    return parse_object(text, DEEPEST_ROW)


def _parse_source(source: str | bytes, deepest: int) -> JSON:
    text = _decode_bytes(source) if isinstance(source, bytes) else source
    try:
        value: JSON = decode_strictly(text)
    except JSONDecodeError as error:
        raise BadJsonError(_describe_place(text, error)) from None
    except BadJsonError:
        raise
    except RecursionError:
        _refuse_depth(deepest)
    except ValueError:
        # The one that is left: Python reads no integer of more than 4,300 digits.
        raise BadJsonError("a number in it has too many digits") from None
    if may_be_deep(text, deepest) and measure_depth(value, deepest) > deepest:
        _refuse_depth(deepest)
    return value


def _object_of(value: JSON) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadJsonError("it is not an object")
    return value


def may_be_deep(text: str, deepest: int) -> bool:
    """Whether a JSON text has enough brackets to be nested so deep. Most end here."""
    return text.count("[") + text.count("{") > deepest


def _decode_bytes(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        where = f"the byte 0x{data[error.start]:02x} at offset {error.start:,}"
        raise BadJsonError(f"it is not UTF-8 ({where})") from None


def _describe_place(text: str, error: JSONDecodeError) -> str:
    if text.startswith("\ufeff"):
        return "it begins with a byte order mark"
    return f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"


def _refuse_depth(deepest: int) -> NoReturn:
    raise BadJsonError(f"it is nested more than {deepest} deep") from None
