"""A run that nobody watches. Warnings are told all the same: none is ever swallowed."""

from __future__ import annotations

from typing import TextIO

from evalcase.report.terminal.view import RunView
from evalcase.text.visible import visible


class QuietView(RunView):
    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out

    def warn(self, text: str) -> None:
        self._out.write(visible(text) + "\n")
