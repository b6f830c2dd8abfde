#!/usr/bin/env python3
"""Draws `check.svg`: what `evalcase check` prints on a terminal, in its own colours.

python docs/images/make_check_svg.py
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "check.svg"
FOLDER = HERE.parent.parent / "examples" / "06-mistakes"
COMMAND = "evalcase check typos.eval.yaml"

CHAR, LINE, SIZE = 8.0, 19.0, 13.2
"""The width of a character, the height of a line and the size of the font, in pixels."""
MARGIN, BAR = 20.0, 36.0
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff"}
TEXT, DIM = "#e6edf3", "#7d8590"

_ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


class Piece(NamedTuple):
    """A stretch of a line in one style."""

    column: int
    text: str
    codes: frozenset[str]


def terminal_output(command: str, folder: Path, *, progress: bool = True) -> str:
    """What a command prints when it believes that it talks to a person."""
    here, there = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    bin_folder = str(Path(sys.executable).parent)
    environment |= {"TERM": "xterm", "PATH": f"{bin_folder}{os.pathsep}{environment['PATH']}"}
    process = subprocess.Popen(  # noqa: S603 - our own command
        command.split(),
        cwd=folder,
        stdout=there,
        stderr=there if progress else subprocess.DEVNULL,
        env=environment,
    )
    os.close(there)
    printed = b"".join(_chunks(here))
    process.wait()
    os.close(here)
    return printed.decode().replace("\r\n", "\n")


def _chunks(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other end is closed
            return
        if not chunk:
            return
        yield chunk


def pieces_of(line: str) -> Iterator[Piece]:
    """Split a line where its style changes."""
    column, codes = 0, frozenset[str]()
    for number, part in enumerate(_ESCAPE.split(line)):
        if number % 2:
            codes = frozenset() if part in ("", "0") else codes | set(part.split(";"))
        elif part:
            yield Piece(column, part, codes)
            column += len(part)


def draw(output: str, command: str = COMMAND) -> str:
    """The picture of a terminal window that shows a command and its output."""
    lines = [f"\x1b[2m$\x1b[0m {command}", *output.rstrip("\n").split("\n")]
    columns = max(len(_ESCAPE.sub("", line)) for line in lines)
    width = round(2 * MARGIN + columns * CHAR)
    height = round(BAR + len(lines) * LINE + MARGIN)
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" role="img" aria-label="The output of {command}">'
            ),
            (
                "<style>text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "
                f"'DejaVu Sans Mono', monospace; font-size: {SIZE}px; white-space: pre }}</style>"
            ),
            f'<rect width="{width}" height="{height}" rx="9" fill="#0d1117"/>',
            *(
                f'<circle cx="{20 + 18 * number}" cy="18" r="5.5" fill="{colour}"/>'
                for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
            ),
            *(_draw_piece(piece, row) for row, line in enumerate(lines) for piece in _shown(line)),
            "</svg>\n",
        ]
    )


def _shown(line: str) -> Iterator[Piece]:
    """The pieces that can be seen, without the spaces before them."""
    for column, text, codes in pieces_of(line):
        bare = text.strip(" ")
        if bare:
            yield Piece(column + len(text) - len(text.lstrip(" ")), bare, codes)


def _draw_piece(piece: Piece, row: int) -> str:
    fill = next((colour for code, colour in COLOURS.items() if code in piece.codes), TEXT)
    fill = DIM if "2" in piece.codes else fill
    weight = ' font-weight="bold"' if "1" in piece.codes else ""
    x, y = MARGIN + piece.column * CHAR, BAR + (row + 0.8) * LINE
    # The length keeps the columns straight in whatever font there is.
    return (
        f'<text x="{x:g}" y="{y:g}" textLength="{len(piece.text) * CHAR:g}" fill="{fill}"{weight} '
        f'xml:space="preserve">{escape(piece.text, quote=False)}</text>'
    )


def main() -> None:
    """Draw the picture anew."""
    PICTURE.write_text(draw(terminal_output(COMMAND, FOLDER)), encoding="utf-8")


if __name__ == "__main__":
    main()
