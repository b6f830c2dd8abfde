r"""Text in which some characters are written as escapes, in JSON (`\u002B`), HTML (`&#x2B;`) or
URLs (`%2B`), or whose words are wrapped, as lines of base64 are, read as what it means, with where
each character stood. What is escaped or wrapped, each program decides for itself: nobody can list
the forms."""

from __future__ import annotations

import re

_LINE_END = r"(?:\r?\n|(?:\\+r)?\\+n)"
_OF_WORD = r"[A-Za-z0-9+/_=-]"
_ESCAPE = re.compile(
    r"\\+(?:u([0-9A-Fa-f]{4})|/)|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-z]{2,6});"
    rf"|(?<={_OF_WORD}{{16}})({_LINE_END})(?={_OF_WORD})"
    r"|(%(?:25)*(?:[0-7][0-9A-Fa-f]|[C-Fc-f][0-9A-Fa-f](?:%(?:25)*[89ABab][0-9A-Fa-f]){1,3}))"
)
_URL_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_OF_URL_ESCAPE = re.compile("%(?:25)*([0-9A-Fa-f]{2})")
"""Of one byte, whatever was escaped again: its number."""
_WRAPPED = re.compile(f"{_OF_WORD}{{16}}{_LINE_END}{_OF_WORD}")
"""A line end after so many characters of a word that it may go on in the next line."""


def may_be_escaped(text: str) -> bool:
    """Whether there is something to be read in another way."""
    if "\\u" in text or "&" in text:
        return True
    if "%" in text and _URL_ESCAPE.search(text) is not None:
        return True
    return ("\n" in text or "\\n" in text) and _WRAPPED.search(text) is not None


def read_escapes(text: str) -> tuple[str, list[int]]:
    """The text as it is meant, and for each of its characters, and its end, where that begins."""
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for found in _ESCAPE.finditer(text):
        start, end = found.span()
        meant = _read_escape(found)
        parts += text[done:start], meant
        places += range(done, start)
        places += [start] * len(meant)
        done = end
    places += range(done, len(text) + 1)
    return "".join([*parts, text[done:]]), places


def _read_escape(found: re.Match[str]) -> str:
    if found[1] is not None:
        return chr(int(found[1], 16))
    if found[2] is not None:
        return ""
    if found[3] is not None:
        bytes_of = bytes.fromhex("".join(_OF_URL_ESCAPE.findall(found[3])))
        return bytes_of.decode("utf-8", "replace")
    if found[0].startswith("\\"):
        return "/"
    from html import unescape  # slow to import

    return unescape(found[0])
