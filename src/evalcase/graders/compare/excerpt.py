"""Values cut to a length that a person reads: in a line of a reason, or side by side."""

from __future__ import annotations

from evalcase.types.value import JSON
from evalcase.util.text import as_json

_IN_A_LINE = 80
_SIDE_BY_SIDE = 4000


def quote_value(value: JSON) -> str:
    """A value as JSON in one line, so that text stands in quotes and line ends can be seen."""
    if isinstance(value, str):
        cut = value[:_IN_A_LINE]
        return as_json(cut) + ("…" if len(cut) < len(value) else "")
    text = as_json(value)
    return text if len(text) <= _IN_A_LINE else f"{text[:_IN_A_LINE]}…"


def excerpt_text(text: str, around: int = 0) -> str:
    """At most 4,000 characters of a text, with what matters among them, and what was cut said."""
    if len(text) <= _SIDE_BY_SIDE:
        return text
    start = max(0, min(around - _SIDE_BY_SIDE // 2, len(text) - _SIDE_BY_SIDE))
    end = start + _SIDE_BY_SIDE
    before = f"({start:,} characters before) …" if start else ""
    after = f"… ({len(text) - end:,} more characters)" if end < len(text) else ""
    return before + text[start:end] + after
