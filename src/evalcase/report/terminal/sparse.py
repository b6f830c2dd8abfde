"""A run as lines of a log: failures as they happen, and now and then how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from evalcase.report.terminal.failures import write_headline
from evalcase.report.terminal.progress import Speed, plain_line
from evalcase.report.terminal.statistics import DecidedCase
from evalcase.report.terminal.style import Style
from evalcase.report.terminal.view import RunView, Ticker
from evalcase.types.result import Result
from evalcase.util.environment import monotonic
from evalcase.util.text import make_visible

WIDTH = 120
_SHORTEST_S, _LONGEST_S = 2.0, 30.0
"""Seconds between two lines on progress: at least, and at most."""


class SparseView(RunView):
    """A line for each tenth that is done, or after half a minute without one; no control codes.

    `same` says that the summary goes to the same log: it names what failed, and so nobody else
    does.
    """

    def __init__(
        self, out: TextIO, style: Style, clock: Callable[[], float] = monotonic,
        width: int = WIDTH, *, same: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.same = same
        self.out = out
        self.style = style
        self.clock = clock
        self.width = width
        self.speed = Speed(0.0)
        self._said_at = 0.0
        self._tenths = 0
        self._next = 0
        """How many trials are done when another tenth may be."""
        self._ticker = Ticker(self.tick, 1.0)

    def begin(self) -> None:
        self.speed = Speed(self.clock())
        self._said_at = self.speed.begun
        self._ticker.start()

    def finished(self, result: Result) -> None:
        super().finished(result)
        if self.progress.done >= self._next:
            self._look_at_tenths()

    def _look_at_tenths(self) -> None:
        done, total = self.progress.done, self.progress.total
        if 10 * done // total > self._tenths and done < total:
            self._tenths = 10 * done // total
            if self.clock() - self._said_at >= _SHORTEST_S:
                self._report()
        self._next = -((self._tenths + 1) * total // -10)

    def tick(self) -> None:
        """Once a second."""
        now = self.clock()
        self.speed.mark(now, self.progress.done)
        if now - self._said_at >= _LONGEST_S:
            self._report()

    def name(self, decided: DecidedCase) -> None:
        if self.same:
            return
        outcome, result = decided
        line = write_headline(result, outcome, self.style, self.width, name_target=self.name_target)
        self._write(line)

    def say(self, line: str) -> None:
        self._write(make_visible(line))

    def close(self) -> None:
        self._ticker.stop()

    def _report(self) -> None:
        self._said_at = now = self.clock()
        self.say(plain_line(self.progress, self.speed, now))

    def _write(self, line: str) -> None:
        with suppress(OSError):  # a log that can't be written must not end the run
            self.out.write(line + "\n")
            self.out.flush()
