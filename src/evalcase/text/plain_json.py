"""Python values to JSON values: an exact copy, or the reason why there can be none."""

from __future__ import annotations

from math import isfinite

from evalcase.model.json_value import JSON

_DEEPEST = 100
_MOST_BITS = 14_000
"""Just under 4,300 digits, beyond which Python refuses to write an integer out."""


class NotJsonError(ValueError):
    """A value can't be written as JSON."""


def copy_json(value: object, level: int = 0) -> JSON:
    """A copy of plain dicts and lists that shares nothing with the value."""
    if value is None or isinstance(value, str | bool | int | float):
        return _copy_scalar(value)
    if level >= _DEEPEST:
        raise NotJsonError(f"it is nested more than {_DEEPEST} levels deep, or in itself")
    # What they hold, and not what a class of their own makes of it: that may have no end.
    if isinstance(value, dict):
        return {_copy_key(key): copy_json(item, level + 1) for key, item in dict.items(value)}
    if isinstance(value, list):
        return [copy_json(item, level + 1) for item in list.__iter__(value)]
    if isinstance(value, tuple):
        return [copy_json(item, level + 1) for item in tuple.__iter__(value)]
    raise NotJsonError(f"{type(value).__name__} is not a JSON value{_hint_at_value(value)}")


def has_lone_surrogates(text: str) -> bool:
    """Whether a text can't be written as UTF-8."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def plain_text(value: str) -> str:
    """The text of a value that may be of a class of its own, with methods that do anything."""
    return value if type(value) is str else str.__str__(value)


def _copy_scalar(value: str | bool | int | float | None) -> JSON:
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, float) and type(value) is not float:
        value = float.__float__(value)
    elif isinstance(value, int) and type(value) not in (int, bool):
        value = int.__int__(value)
    if isinstance(value, float) and not isfinite(value):
        raise NotJsonError(f"JSON has no {value}")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise NotJsonError("an integer has more than 4,300 digits")
    return value


def _copy_key(key: object) -> str:
    if not isinstance(key, str):
        raise NotJsonError(f"a key is {key!r}, and keys of JSON are texts")
    return plain_text(key)


def _hint_at_value(value: object) -> str:
    if hasattr(value, "choices"):  # what clients of OpenAI and many others return
        return "; return its .model_dump(), which has its tool calls and usage, too"
    if hasattr(value, "output") and hasattr(value, "output_text"):  # its Responses API
        return "; return its .model_dump(), which has its tool calls and usage, too"
    if hasattr(value, "content") and hasattr(value, "stop_reason"):  # those of Anthropic
        return "; return its .model_dump(), which has its tool calls, too"
    if hasattr(value, "model_dump"):
        return "; return its .model_dump()"
    if hasattr(value, "__dataclass_fields__"):
        return "; return dataclasses.asdict() of it"
    if hasattr(value, "__next__") or hasattr(value, "__anext__"):
        return "; join what it yields and return that"
    return ""
