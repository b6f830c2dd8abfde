"""A run on a terminal: one line that is drawn again and again, and above it what has gone wrong.

Only one thread writes, ten times a second at most, and each picture is written in one go. The
event loop never waits for the terminal, and a trial costs no more than a few additions.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from evalcase.report.terminal.cells import measure_text
from evalcase.report.terminal.failures import write_headline
from evalcase.report.terminal.hanging import hang_text
from evalcase.report.terminal.progress import Speed, status_line
from evalcase.report.terminal.statistics import DecidedCase
from evalcase.report.terminal.style import PLAIN, Style
from evalcase.report.terminal.view import RunView, Ticker
from evalcase.util.environment import monotonic
from evalcase.util.text import make_visible

_PERIOD_S = 0.1
_QUICK_S = 0.5
"""A run that is over sooner shows no line, and names no failures that its summary shows anyway."""
_MARGIN = 3
"""Cells that stay free behind the status line: a terminal echoes `^C` there, and must not fold."""
_TO_END = "\x1b[K"
_BELOW = "\x1b[J"


class LiveView(RunView):
    """Draws on `out`, which is a terminal of `columns()` columns.

    `same` says that the summary will be shown there, too.
    """

    is_live = True

    def __init__(
        self, out: TextIO, style: Style, columns: Callable[[], int], *, same: bool = True,
        clock: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        super().__init__()
        self.out = out
        self.style = style
        self.columns = columns
        self.same = same
        self.clock = clock
        self.active = False
        self.speed = Speed(0.0)
        self._lines: deque[tuple[str, bool]] = deque()
        """What is to be written above the status line, and whether the summary will say it."""
        self._status = ""
        self._cells = 0
        self._spoke = False
        self._ticker = Ticker(self.draw, _PERIOD_S)

    def begin(self) -> None:
        self.speed = Speed(self.clock())
        self.active = True
        self._ticker.start()

    def name(self, decided: DecidedCase) -> None:
        outcome, result = decided
        width = self.columns() - 1
        line = write_headline(result, outcome, self.style, width, name_target=self.name_target)
        self._lines.append((line, self.same))

    def say(self, line: str) -> None:
        self.write_line(make_visible(line))

    def tell(self, text: str) -> None:
        for row in hang_text(make_visible(text), self.columns() - 1, indent=2):
            self.write_line(row)

    def write_line(self, line: str) -> None:
        """Put a line above the status line; without one, it is simply written."""
        if self.active:
            self._lines.append((line, False))
        else:
            self._write(line + "\n")

    def draw(self) -> None:
        """Write what is new, if anything is and somebody is there to see it."""
        now, columns = self.clock(), self.columns()
        self.speed.mark(now, self.progress.done)
        if not self._status and now - self.speed.begun < _QUICK_S:
            return
        status = self._status_line(now, columns - _MARGIN, self.style)
        if (status == self._status and not self._lines) or _in_background(self.out):
            return
        self._write(self._away(columns) + self._new_lines() + status + _TO_END)
        self._status = status
        self._cells = measure_text(self._status_line(now, columns - _MARGIN, PLAIN))

    def close(self) -> None:
        """Take the status line away, and leave a blank line below what was said."""
        if self.active:
            self.active = False
            self._ticker.stop()
            last = self._away(self.columns()) + self._new_lines() + _BELOW
            self._write(last + "\n" if self._spoke else last)

    def _status_line(self, now: float, width: int, style: Style) -> str:
        return status_line(self.progress, self.speed, now, width, style, self.notice)

    def _away(self, columns: int) -> str:
        """Back to where the status line began. A terminal that got narrower has folded it."""
        folded = max(0, self._cells - 1) // max(1, columns)
        return f"\r\x1b[{folded}A{_BELOW}" if folded else "\r"

    def _new_lines(self) -> str:
        text = ""
        while self._lines:
            line, said_again = self._lines.popleft()
            if said_again and not self.active and not self._status:
                continue  # the run was quick: the summary is next
            self._spoke = True
            text += f"{line}{_TO_END}\n"
        return text

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a terminal that is gone must not end the run
            self.out.write(text)
            self.out.flush()


def _in_background(out: TextIO) -> bool:
    """Whether the terminal belongs to another job just now, as after Ctrl-Z and `bg`."""
    try:
        return os.tcgetpgrp(out.fileno()) != os.getpgrp()
    except (OSError, ValueError):
        return False
