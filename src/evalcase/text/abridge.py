"""Texts in, texts of a readable length out: what they quote may be of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.text.late_pattern import late_pattern

if TYPE_CHECKING:
    import re

_LONG = 200
EXCERPT_CHARACTERS = 1000
_QUOTED = late_pattern(r"`([^`]{0,60})([^`]*)`")
"""What stands in backquotes, short or long: of one pair after the other, none is taken for the
end of what stands between two names."""
_LEAST_CUT = 20


def abridge_message(message: str) -> str:
    """The message with long names in it cut."""
    return message if len(message) <= _LONG else _QUOTED.sub(_abridge_name, message)


def _abridge_name(found: re.Match[str]) -> str:
    return f"`{found[1]}…`" if len(found[2]) >= _LEAST_CUT else found[0]


def shorten_text(text: str, most: int) -> str:
    """The text; if it is longer, so many characters of it, of which the last says that it was."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cut_bytes(data: bytes) -> str:
    """The beginning of some bytes, for a person to read."""
    return data[: 4 * EXCERPT_CHARACTERS].decode(errors="backslashreplace")[:EXCERPT_CHARACTERS]
