"""A string or number in, its YAML spelling out: plain where every loader agrees, else quoted.

The quoted form is a JSON string too, with one exception: characters beyond U+FFFF stand as they
are, because libyaml refuses surrogate pairs.
"""

from __future__ import annotations

import re
from math import isfinite

from evalcase.text.visible import STEERING

_NOT_RAW = re.compile(f"[\x00-\x1f{STEERING}]")
_NOT_IN_LITERAL = re.compile(f"[\x00-\x08\x0b-\x1f{STEERING}]")
_ESCAPED = re.compile(f'[\x00-\x1f"\\\\{STEERING}]')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# Digits and signs are left out: numbers, dates and times of YAML 1.1 all start with one.
_PLAIN = re.compile(r"(?:[^\W\d]|[/($<]|[^\x00-\x7f\d])(?:(?!: | #).)*(?<![:\s])")
_PLAIN_IN_FLOW = re.compile(r"[^\W\d](?:[\w ./@+-]*[\w./@+-])?")
_WORDS_WITH_MEANING = frozenset("y n yes no on off true false null <<".split())
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar_text(value: object, *, in_flow: bool = False) -> str:
    """The spelling of a scalar on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string_text(value, in_flow=in_flow)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _float_text(value)
    raise TypeError(f"{type(value).__name__} isn't a JSON value")


def string_text(text: str, *, in_flow: bool = False) -> str:
    """The text itself where no loader takes it for anything else, otherwise in double quotes."""
    return text if _is_plain(text, _PLAIN_IN_FLOW if in_flow else _PLAIN) else quoted_text(text)


def quoted_text(text: str) -> str:
    """The text in double quotes, on one line whatever it holds."""
    if _LONE_SURROGATE.search(text):
        raise ValueError("a string with a lone surrogate can't be written as YAML")
    return f'"{_ESCAPED.sub(_escape_character, text)}"'


def literal_text(text: str, indent: int, step: int) -> str | None:
    """A `|` block at column `indent`, `step` deeper than what holds it; None if not exact."""
    if "\n" not in text or not text.strip() or _NOT_IN_LITERAL.search(text):
        return None
    # White space up front would be taken for indentation, so its depth is told outright.
    depth = str(step) if text[0] in " \t\n" else ""
    body = text.removesuffix("\n")
    chomp = "-" if body == text else "+" if body.endswith("\n") else ""
    pad = " " * indent
    lines = [pad + line if line else "" for line in body.split("\n")]
    return "\n".join([f"|{depth}{chomp}", *lines])


def _is_plain(text: str, pattern: re.Pattern[str]) -> bool:
    if not pattern.fullmatch(text) or text.lower() in _WORDS_WITH_MEANING:
        return False
    return text == text.strip() and not _NOT_RAW.search(text)


def _escape_character(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT_ESCAPES.get(char) or f"\\u{ord(char):04x}"


def _float_text(value: float) -> str:
    if not isfinite(value):
        raise ValueError(f"{value} isn't a JSON value")
    text = float.__repr__(value)
    # YAML 1.1 takes 1e+16 for a string: there a float needs its point.
    return text if "." in text else text.replace("e", ".0e")
