"""A scalar as it is written on a line, to the value that it most likely has: good enough to tell
what else may be written beside it."""

from __future__ import annotations

from contextlib import suppress

from evalcase.types.value import JSON

_WORDS: dict[str, JSON] = {"true": True, "false": False, "null": None, "~": None, "": None}


def read_scalar(source: str) -> JSON:
    """Text in quotes without them, words with a meaning and numbers as such, else the text."""
    source = source.strip()
    if source[:1] in ("'", '"'):
        return _unquote_source(source)
    if source.lower() in _WORDS:
        return _WORDS[source.lower()]
    with suppress(ValueError):
        return int(source)
    with suppress(ValueError):
        number = float(source)
        if number - number == 0:  # neither endless nor no number at all
            return number
    return source


def _unquote_source(source: str) -> str:
    quote = source[0]
    inner = source[1:-1] if len(source) > 1 and source.endswith(quote) else source[1:]
    if quote == "'":
        return inner.replace("''", "'")
    return inner.replace('\\"', '"').replace("\\\\", "\\")
