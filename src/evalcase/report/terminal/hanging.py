"""Prose in, the rows of it on a terminal out: broken between words, all but the first indented."""

from __future__ import annotations

from evalcase.report.terminal.cells import measure_text


def hang_text(text: str, width: int | None, *, indent: int, taken: int = 0) -> list[str]:
    """A text in rows of at most so many cells; in one row where nobody says how many.

    The first begins where `taken` cells are taken already, and may stay empty for it. A word that
    is wider than a row stays whole: a path is there to be copied.
    """
    if width is None:
        return [text]
    rows, free = [""], width - taken
    for number, word in enumerate(text.split(" ")):
        spaced = f" {word}" if number else word
        if measure_text(spaced) > free and (rows[-1] or taken > indent):
            rows.append(" " * indent + word)
            free = width - indent - measure_text(word)
        else:
            rows[-1] += spaced
            free -= measure_text(spaced)
    return rows
