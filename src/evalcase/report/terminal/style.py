"""Colours for text reports: a value that says which escape sequences to use, so none by default."""

from __future__ import annotations

from typing import NamedTuple


class Style(NamedTuple):
    """The escape sequence that starts each kind of text; an empty one leaves it plain."""

    error: str = ""
    warning: str = ""
    note: str = ""
    place: str = ""
    gutter: str = ""
    hint: str = ""
    good: str = ""


PLAIN = Style()
ANSI = Style(
    error="\x1b[1;31m",
    warning="\x1b[1;33m",
    note="\x1b[1;36m",
    place="\x1b[1m",
    gutter="\x1b[2m",
    hint="\x1b[36m",
    good="\x1b[1;32m",
)


def paint_text(text: str, start: str) -> str:
    """Put `text` between `start` and a reset, or leave it alone when there is nothing to start."""
    return f"{start}{text}\x1b[0m" if start and text else text


def colour_of(verdict: str | None, style: Style) -> str:
    """Green, red and yellow for what a person should see first."""
    colours = {"passed": style.good, "failed": style.error, "skipped": style.gutter}
    return colours.get(verdict or "", style.warning)
