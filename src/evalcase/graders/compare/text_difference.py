"""Where two texts begin to differ, and what a person needs to see of it."""

from __future__ import annotations

from evalcase.graders.compare.excerpt import as_json

_SHORT = 60
_BEFORE = 20
_AFTER = 40
_LONGEST_LOOKED_AT_TWICE = 100_000


def plain(text: str) -> str:
    """A text without what doesn't count: outer white space, and which line ends it has."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.strip()


def first_difference(left: str, right: str) -> int:
    """How many characters at the start are the same, by halving: linear, and at memory speed."""
    same, end = 0, min(len(left), len(right))
    if left[:end] == right[:end]:
        return end
    while end - same > 1:
        middle = (same + end) // 2
        if left[same:middle] == right[same:middle]:
            same = middle
        else:
            end = middle
    return same


def describe_difference(expected: str, got: str) -> str:
    """One line on two plain texts that are not equal."""
    if not got:
        return f"expected {_excerpt(expected, 0)}, got an empty text"
    at = first_difference(expected, got)
    where = ""
    if not (_is_short(expected) and _is_short(got)):
        line = expected.count("\n", 0, at) + 1
        character = at - expected.rfind("\n", 0, at)
        where = f"line {line:,}, character {character:,}: "
    sides = f"expected {_excerpt(expected, at)}, got {_excerpt(got, at)}"
    return where + sides + _nature(expected, got, at)


def _is_short(text: str) -> bool:
    return len(text) <= _SHORT and "\n" not in text


def _excerpt(text: str, at: int) -> str:
    """A short text whole; else the part of the line that has the difference in it."""
    if _is_short(text):
        return as_json(text)
    start = max(text.rfind("\n", 0, at) + 1, at - _BEFORE)
    if at == len(text):
        return f"the end after …{as_json(text[start:])}"
    # A difference at the end of a line shows that end, and not an empty excerpt.
    line_end = text.find("\n", at + 1)
    end = min(line_end if line_end >= 0 else len(text), at + _AFTER)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return before + as_json(text[start:end]) + after


def _nature(expected: str, got: str, at: int) -> str:
    """What the two excerpts don't show, or only to a sharp eye."""
    if len(expected) + len(got) <= _LONGEST_LOOKED_AT_TWICE:
        if expected.casefold() == got.casefold():
            return " (only upper and lower case differ)"
        if expected.split() == got.split():
            return " (only white space differs)"
    differing = expected[at : at + 1], got[at : at + 1]
    if all(differing) and not "".join(differing).isascii():
        return " (expected U+{:04X}, got U+{:04X})".format(*map(ord, differing))
    return ""
