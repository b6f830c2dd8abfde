"""A page of the documentation in Markdown in, lines for a terminal out: prose is broken between
words, and blocks of code are indented."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalcase.report.terminal.hanging import hang_text
from evalcase.report.terminal.style import Style, paint_text

_LINKS = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_STRESSED = re.compile(r"\*{1,2}([^*`]+)\*{1,2}")
_FENCE = "```"


def page_lines(page: str, width: int, style: Style) -> Iterator[str]:
    """The lines of a page."""
    is_code = False
    for line in page.rstrip("\n").split("\n"):
        if line.startswith(_FENCE):
            is_code = not is_code
        elif is_code:
            yield f"    {line}".rstrip()
        elif line.startswith("#"):
            yield paint_text(line.lstrip("# "), style.place)
        else:
            text = _STRESSED.sub(r"\1", _LINKS.sub(r"\1", line))
            yield from hang_text(text, width, indent=2 if text.startswith("- ") else 0)
