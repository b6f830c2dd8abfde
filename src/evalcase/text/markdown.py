"""Text of anybody's in, Markdown out that shows it as it is: nothing in it is a link, a mention, a
picture or markup, and it can't end what it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from evalcase.text.visible import make_visible

_TICKS = re.compile("`+")


def code_span(text: str) -> str:
    """A text in one line, as code; `–` where there is none."""
    # In a table a bar is escaped, and readers disagree on one that has a backslash before it.
    text = make_visible(text).replace("\\|", "\\<U+007C>")
    if not text.strip():
        return "–"
    ticks = "`" * (_longest_run([text]) + 1)
    blank = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def code_block(lines: Iterable[str], language: str = "text") -> Iterator[str]:
    """Lines of a text, as a block of code."""
    shown = [make_visible(line) for line in lines]
    fence = "`" * max(3, _longest_run(shown) + 1)
    yield f"{fence}{language}"
    yield from shown
    yield fence


def write_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of cells that are Markdown already; the first row is its head, and all but the first
    column are numbers."""
    head, *rest = rows
    yield _write_row(head)
    yield "|---|" + "---:|" * (len(head) - 1)
    for row in rest:
        yield _write_row(row)


def _write_row(cells: Sequence[str]) -> str:
    # Also within code a bar ends a cell, unless it is escaped.
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _longest_run(texts: Iterable[str]) -> int:
    return max((len(run) for text in texts for run in _TICKS.findall(text)), default=0)
