"""What the commands share: colour or not, and the option for standard input."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TextIO

import click

from evalcase.report.style import ANSI, PLAIN, Style

stdin_format: Callable[[Any], Any] = click.option(
    "--stdin-format",
    type=click.Choice(["yaml", "json", "jsonl"]),
    default="yaml",
    show_default=True,
    help="How to read standard input, which is named by '-'.",
)


def style_for(stream: TextIO) -> Style:
    """Colours on a terminal, unless NO_COLOR is set or it can't show them."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PLAIN
    return ANSI if stream.isatty() else PLAIN
