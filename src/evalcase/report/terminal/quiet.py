"""A run that nobody watches. Warnings are told all the same: none is ever swallowed."""

from __future__ import annotations

from contextlib import suppress
from typing import TextIO

from evalcase.report.terminal.view import RunView
from evalcase.types.result import Result, Trial
from evalcase.util.text import make_visible


class QuietView(RunView):
    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out

    def started(self, trial: Trial) -> None:
        """Nobody watches."""

    def finished(self, result: Result) -> None:
        """The last lines need no more than the totals."""

    def tell(self, text: str) -> None:
        with suppress(OSError):  # a log that can't be written must not end the run
            self._out.write(make_visible(text) + "\n")
