"""Targets to the part of `evalcase.toml` that configures them."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps

from evalcase.model.json_value import JSON
from evalcase.text.late_pattern import late_pattern

_BARE = late_pattern(r"[A-Za-z0-9_-]+")


def write_targets(targets: Mapping[str, Mapping[str, JSON]], judge: str | None = None) -> str:
    """A table for each target, and one that says which of them judges."""
    tables = []
    for name, options in targets.items():
        lines = [f"[targets.{_key(name)}]"]
        lines += [f"{_key(option)} = {_value(value)}" for option, value in options.items()]
        tables.append("\n".join(lines) + "\n")
    if judge is not None:
        tables.append(f"[judge]\ntarget = {_text(judge)}\n")
    return "\n".join(tables)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: JSON) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        pairs = [
            f"{_key(name)} = {_value(item)}" for name, item in value.items() if item is not None
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value if item is not None)}]"
    return dumps(value)


def _text(text: str) -> str:
    """A text in quotes: JSON's escapes are TOML's, but for the one that JSON doesn't need."""
    return dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
