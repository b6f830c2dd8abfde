"""Texts in, texts of a readable length out: what they quote may be of any length."""

from __future__ import annotations

from evalcase.text.late_pattern import late_pattern

_LONG = 200
EXCERPT_CHARACTERS = 1000
_QUOTED = late_pattern(r"`([^`]{60})[^`]{20,}`")


def abridge_message(message: str) -> str:
    """The message with long names in it cut."""
    return message if len(message) <= _LONG else _QUOTED.sub(r"`\1…`", message)


def shorten_text(text: str, most: int) -> str:
    """The text; if it is longer, so many characters of it, of which the last says that it was."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cut_bytes(data: bytes) -> str:
    """The beginning of some bytes, for a person to read."""
    return data[: 4 * EXCERPT_CHARACTERS].decode(errors="backslashreplace")[:EXCERPT_CHARACTERS]
