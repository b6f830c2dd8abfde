"""Messages in, messages of a readable length out: what they quote may be of any length."""

from __future__ import annotations

from evalcase.text.late_pattern import late_pattern

_LONG = 200
_QUOTED = late_pattern(r"`([^`]{60})[^`]{20,}`")


def abridge(message: str) -> str:
    """The message with long names in it cut."""
    return message if len(message) <= _LONG else _QUOTED.sub(r"`\1…`", message)
