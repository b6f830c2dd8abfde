"""What was meant where a number is wanted: text that says one, a percentage, a time with its unit.

Each takes a value that is no such number, and gives the number as it is to be written.
"""

from __future__ import annotations

from evalcase.model.json_value import JSON

_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


def number_meant(value: JSON, whole: bool) -> str | None:
    """A number in quotes."""
    number = _number_in(value.strip()) if isinstance(value, str) else None
    if number is None or (whole and not number.is_integer()):
        return None
    return str(int(number)) if whole else f"{number:g}"


def share_meant(value: JSON) -> str | None:
    """A share that is written as a percentage, or as text. Of 5, nobody knows which it is."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    number = _number_in(text.removesuffix("%").strip())
    if number is None:
        return None
    if text.endswith("%") or 9 < number <= 100:
        number = round(number / 100, 6)
    return f"{number:g}" if 0 <= number <= 1 else None


def seconds_meant(value: JSON) -> str | None:
    """A time that is written with its unit, or as text."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    number, unit = _number_in(digits), text[len(digits) :].strip() or "s"
    if number is None or number <= 0 or unit not in _SECONDS:
        return None
    return f"{number * _SECONDS[unit]:g}"


def _number_in(text: str) -> float | None:
    try:
        number = float(text) if len(text) < 20 and text.isascii() else None
    except ValueError:
        return None
    return number if number is not None and abs(number) <= 1e300 else None
