"""A finding: a problem that knows its path in the data, and not yet its place in the text."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

KeyPath: TypeAlias = "tuple[str | int, ...]"
At = Literal["key", "value"]

QUOTE_IT = "quote it"
"""A hint that becomes `write it in quotes: "…"`, with the text as it was written."""


LOST_SPELLING = "lost-spelling"
"""The code of a finding that counts only if the number at its place is not written as it is read:
who resolves a value doesn't know its text."""


class Doubts(NamedTuple):
    """What the first reading has seen somewhere, and who knows the format has to look into."""

    deep: bool = False
    """Something is nested nearly as deep as may be."""
    respelt: bool = False
    """A number is not written as it will be: `3.10`."""
    texts: bool = False
    """Texts may look like more than text: two braces stand somewhere, or the address of a file."""


NO_DOUBTS = Doubts()


class Fix(NamedTuple):
    """The one edit that does what a hint says: what takes the place of what is pointed at."""

    text: str
    """An ellipsis in it stands for what is there."""
    of_name: bool = False
    """Whether it is a name, which keeps the quotes that it has."""


IN_QUOTES = Fix('"…"')
IN_LIST = Fix("[…]")


class Finding(NamedTuple):
    code: str
    path: KeyPath
    message: str
    hint: str | None = None
    at: At = "value"
    case: str | None = None
    also: KeyPath | None = None
    """The path of a second place, which is added to the message."""
    fix: Fix | None = None
    within: str | None = None
    """A part of the text there, which is what is pointed at."""
    hides: bool = False
    """Whether a secret may stand there, so that the line of it is not shown."""


class Unfit(NamedTuple):
    """Why what a suite refers to can't be used: a file, a grader, a target."""

    code: str
    message: str
    hint: str | None = None
