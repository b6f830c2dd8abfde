"""JSON values as TOML writes them."""

from __future__ import annotations

import re
from json import dumps

from evalcase.model.json_value import JSON

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_setting(name: str, value: JSON) -> str:
    """`name = value`, on one line. What is null, TOML leaves out."""
    return f"{write_key(name)} = {_write_value(value)}"


def write_key(name: str) -> str:
    """A name, in quotes if it needs them."""
    return name if _BARE.fullmatch(name) else _quote_text(name)


def _write_value(value: JSON) -> str:
    if isinstance(value, str):
        return _quote_text(value)
    if isinstance(value, dict):
        pairs = [write_setting(name, item) for name, item in value.items() if item is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_write_value(item) for item in value if item is not None)}]"
    return dumps(value)


def _quote_text(text: str) -> str:
    """A text in quotes: JSON's escapes are TOML's, but for the one that JSON doesn't need."""
    return dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
