"""Prose in, the rows of it on a terminal out: broken between words, all but the first indented."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalcase.report.terminal.cells import measure_text

_COMMAND = re.compile(r"`(?:evalcase|pip) [^`]*`|(?<=: )(?:evalcase|pip) .*")
"""What a person types, in backquotes or after a colon to the end of the sentence."""


def hang_text(text: str, width: int | None, *, indent: int, taken: int = 0) -> list[str]:
    """A text in rows of at most so many cells; in one row where nobody says how many.

    The first begins where `taken` cells are taken already, and may stay empty for it. A word that
    is wider than a row stays whole, and so does a command: they are there to be copied.
    """
    if width is None:
        return [text]
    rows, free = [""], width - taken
    for number, word in enumerate(_split_words(text)):
        spaced = f" {word}" if number else word
        if measure_text(spaced) > free and (rows[-1] or taken > indent):
            rows.append(" " * indent + word)
            free = width - indent - measure_text(word)
        else:
            rows[-1] += spaced
            free -= measure_text(spaced)
    return rows


def _split_words(text: str) -> Iterator[str]:
    """The words of a text; a command counts as one."""
    at = 0
    for found in _COMMAND.finditer(text):
        yield from (before := text[at : found.start()].split(" "))[:-1]
        rest = text[found.end() :].partition(" ")
        yield before[-1] + found[0] + rest[0]
        at = found.end() + len(rest[0]) + 1
    if at <= len(text):
        yield from text[at:].split(" ")
