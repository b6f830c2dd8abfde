"""Messages in, messages of a readable length out: what they quote may be of any length."""

from __future__ import annotations

import re

_LONG = 200
_QUOTED = re.compile(r"`([^`]{60})[^`]{20,}`")


def abridge(message: str) -> str:
    """The message with long names in it cut."""
    return message if len(message) <= _LONG else _QUOTED.sub(r"`\1…`", message)
