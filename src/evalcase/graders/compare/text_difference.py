"""Where two texts begin to differ, and what a person needs to see of it."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.util.text import as_json

_SHORT = 60
_BEFORE = 20
_AFTER = 40
_LONGEST_LOOKED_AT_TWICE = 100_000
_TWINS = str.maketrans(
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "aceopxyijsABEKMHOPCTXIJSovABEZHIKMNOPTYX",
)
"""Letters of the Cyrillic and the Greek alphabet that look as Latin ones do."""


class TextDifference(NamedTuple):
    sides: str
    """Both texts, short or cut around the difference."""
    where: str = ""
    """The place, where they are too long to see it at once."""
    note: str = ""
    """What the two don't show, or only to a sharp eye."""

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return where + self.sides + (f" ({self.note})" if self.note else "")


def trim_text(text: str) -> str:
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


def find_text_difference(expected: str, got: str) -> TextDifference:
    """How two plain texts differ that are not equal."""
    at = first_difference(expected, got)
    where = ""
    if not (_is_short(expected) and _is_short(got)):
        line = expected.count("\n", 0, at) + 1
        character = at - expected.rfind("\n", 0, at)
        where = f"line {line:,}, character {character:,}"
    sides = f"expected {_cut_excerpt(expected, at)}, got {_cut_excerpt(got, at)}"
    return TextDifference(sides, where, _describe_nature(expected, got, at))


def _is_short(text: str) -> bool:
    return len(text) <= _SHORT and "\n" not in text


def _cut_excerpt(text: str, at: int) -> str:
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


def _describe_nature(expected: str, got: str, at: int) -> str:
    if len(expected) + len(got) <= _LONGEST_LOOKED_AT_TWICE:
        if expected.casefold() == got.casefold():
            return "only upper and lower case differ"
        if expected.split() == got.split():
            return "only white space differs"
    differing = expected[at : at + 1], got[at : at + 1]
    if all(differing) and not "".join(differing).isascii() and _look_alike(*differing):
        return "expected U+{:04X}, got U+{:04X}".format(*map(ord, differing))
    return ""


def _look_alike(left: str, right: str) -> bool:
    """Whether an eye may take one character for the other, or not see one of them at all."""
    from unicodedata import category, combining, normalize

    kinds = category(left), category(right)
    if any(each[0] in "CZ" for each in kinds) or combining(left) or combining(right):
        return True
    # Dashes and quotes of many sorts; and letters that differ by an accent or by their width.
    if all(each[0] == "P" or each in ("Sm", "Sk") for each in kinds):
        return True
    if normalize("NFKD", left)[0] == normalize("NFKD", right)[0]:
        return True
    return left.translate(_TWINS) == right.translate(_TWINS)
