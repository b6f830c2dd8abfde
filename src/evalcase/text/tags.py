"""Texts with tags, such as `Weather in {{city}}?`, taken apart: text between tags, and tags.

A tag is `{{name}}` or `{{name.part}}`, and nothing else is: whatever else stands in braces is text.
`{{{{name}}}}` is the text `{{name}}`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = r"[^\W\d][\w-]*"
_TAG = rf"[ \t]*({_NAME}(?:\.[\w-]+)*)[ \t]*"
_TAGS = re.compile(rf"\{{\{{(\{{\{{{_TAG}\}}\}})\}}\}}|\{{\{{{_TAG}\}}\}}")
_NEARLY = re.compile(rf"\{{\{{[ \t]*({_NAME})(?:\.[\w-]+)*[ \t]*([|(\[])")
_NAMES = re.compile(_NAME)


class Tag(NamedTuple):
    """A place in a text for the value of a variable, or of a part of it."""

    name: str
    steps: tuple[str, ...]
    """The parts that lead into the value."""
    source: str
    """As it is written, with its braces."""

    @property
    def dotted(self) -> str:
        return ".".join((self.name, *self.steps))


def split_tags(text: str) -> list[str | Tag]:
    """The pieces of a text in order. What is written to be literal is text by now."""
    pieces: list[str | Tag] = []
    at = 0
    for found in _TAGS.finditer(text):
        pieces.append(text[at : found.start()])
        at = found.end()
        if found[1] is not None:
            pieces.append(found[1])
            continue
        name, *steps = found[3].split(".")
        pieces.append(Tag(name, tuple(steps), found[0]))
    pieces.append(text[at:])
    return [piece for piece in pieces if piece != ""]


def near_tags(text: str) -> list[tuple[str, str]]:
    """What begins like a tag and goes on with `|`, `(` or `[`, as in languages of templates: the
    name, and how it is written up to there."""
    return [(found[1], found[0]) for found in _NEARLY.finditer(text)]


def is_name(text: str) -> bool:
    """Whether a variable may be called so."""
    return _NAMES.fullmatch(text) is not None
