"""Texts in, texts of a readable length out: what they quote may be of any length."""

from __future__ import annotations

import re

_LONG = 200
EXCERPT_CHARACTERS = 1000
_LONG_NAME = 80
_KEPT_OF_NAME = 60
# Each whole name, also a short one: else the text between two of them would be taken for one.
_QUOTED = re.compile(r"`([^`]*)`")


def abridge_message(message: str) -> str:
    """The message with long names in it cut."""
    return message if len(message) <= _LONG else _QUOTED.sub(_shorten_name, message)


def _shorten_name(found: re.Match[str]) -> str:
    name = found[1]
    return found[0] if len(name) < _LONG_NAME else f"`{name[:_KEPT_OF_NAME]}…`"


def shorten_text(text: str, most: int) -> str:
    """The text; if it is longer, so many characters of it, of which the last says that it was."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cut_bytes(data: bytes) -> str:
    """The beginning of some bytes, for a person to read."""
    return data[: 4 * EXCERPT_CHARACTERS].decode(errors="backslashreplace")[:EXCERPT_CHARACTERS]
