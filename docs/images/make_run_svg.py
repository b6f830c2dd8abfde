#!/usr/bin/env python3
"""Draws `run.svg`: what `evalcase run` leaves on a terminal, in its own colours.

python -m docs.images.make_run_svg
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from docs.images.make_check_svg import draw, terminal_output

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "run.svg"
FOLDER = HERE.parent.parent / "examples" / "07-an-agent"
COMMAND = "evalcase run"
_STEADY = (
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}"), "20260301-090000-a1b2c3"),
    (re.compile(r"\b\d+\.\d s$", re.MULTILINE), "0.1 s"),
)


def picture() -> str:
    """The picture, drawn from a run in a copy of the example."""
    with tempfile.TemporaryDirectory(prefix="evalcase-docs-") as folder:
        shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
        # Without progress: a picture stands still.
        shown = terminal_output(COMMAND, Path(folder), progress=False)
    for pattern, steady in _STEADY:
        shown = pattern.sub(steady, shown)
    return draw(shown, COMMAND)


def main() -> None:
    """Draw the picture anew."""
    PICTURE.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
