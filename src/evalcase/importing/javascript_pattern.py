"""A pattern of JavaScript to the one of Python that finds the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SAME = frozenset("dDwWsSbBnrtvf0123456789")
_TOKEN = re.compile(
    r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\k<(?P<back>\w+)>|\\(?P<escaped>[\s\S])"
    r"|\(\?<(?P<group>\w+)>|(?P<unbounded>\{,\d+\})|(?P<plain>[\s\S])"
)
_NOWHERE = {
    "c": "a control character (`\\c`)", "p": "a property (`\\p`)", "P": "a property (`\\P`)",
    "k": "`\\k`", "u": "`\\u`", "x": "`\\x`",
}  # fmt: skip


def translate_pattern(pattern: str) -> str:
    """The same pattern for Python. Raise ValueError for what has no counterpart there."""
    return "".join(_translate_tokens(pattern))


def _translate_tokens(pattern: str) -> Iterator[str]:
    in_class, class_start = False, 0
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if kind == "back":
            yield f"(?P={token['back']})"
        elif kind == "escaped":
            yield _translate_escape(token["escaped"])
        elif kind == "group":
            yield text if in_class else f"(?P<{token['group']}>"
        elif kind == "unbounded":
            yield text if in_class else rf"\{text}"
        elif text == "[" and not in_class:
            in_class, class_start = True, token.end()
            yield text
        elif in_class:
            if text == "]":
                _refuse_empty(pattern[class_start : token.start()])
                in_class = False
            yield rf"\{text}" if text in "[&|~" else text
        else:
            yield r"\Z" if text == "$" else text


def _translate_escape(letter: str) -> str:
    if letter in _NOWHERE:
        raise ValueError(f"{_NOWHERE[letter]} means something else in a pattern of Python")
    if letter.isascii() and letter.isalpha() and letter not in _SAME:
        return letter
    return letter if letter == "/" else f"\\{letter}"


def _refuse_empty(held: str) -> None:
    if held in ("", "^"):
        raise ValueError(f"`[{held}]` means something else in a pattern of Python")
