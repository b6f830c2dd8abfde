"""Columns as editors count them: by default in units of UTF-16, of which an emoji takes two."""

from __future__ import annotations

from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The units before a column of code points; at most those of the whole line."""
    before = line[:column]
    if encoding == "utf-32" or before.isascii():
        return len(before)
    return len(_encode_text(before, encoding)) // _WIDTH[encoding]


def to_column(line: str, units: int, encoding: Encoding) -> int:
    """The column of code points after some units; one in the midst of a character is before it."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    data = _encode_text(line, encoding)[: units * _WIDTH[encoding]]
    return len(data.decode(_CODECS[encoding], "ignore"))


_WIDTH = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


def _encode_text(text: str, encoding: Encoding) -> bytes:
    return text.encode(_CODECS[encoding], "surrogatepass")
