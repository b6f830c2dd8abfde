"""A stream that stands in for standard error while a status line is drawn: what user code prints
goes above that line, whole line by whole line, and can't tear it."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, TextIO

from evalcase.util.text import make_visible

if TYPE_CHECKING:
    from evalcase.report.terminal.live import LiveView

_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")
_LONGEST = 100_000


class StderrProxy:
    """Behaves like the stream that it stands for, but for what is written to it."""

    def __init__(self, stream: TextIO, view: LiveView) -> None:
        self.stream = stream
        self._view = view
        self._begun: dict[int, str] = {}
        """Lines that have no end yet, by thread, so that those of two threads aren't mixed."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        if not self._view.active:
            return self.stream.write(text)
        thread = threading.get_ident()
        *lines, rest = (self._begun.pop(thread, "") + text).replace("\r\n", "\n").split("\n")
        for line in lines:
            self._view.write_line(tame_line(line))
        # A progress bar writes over itself again and again: only the last of it counts.
        rest = rest[max(0, rest.rfind("\r", 0, -1)) :][-_LONGEST:]
        if rest:
            self._begun[thread] = rest
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        """It is lent, and nobody's to close."""

    def finish(self) -> None:
        """Write what has no end yet."""
        while self._begun:
            _, rest = self._begun.popitem()
            self._view.write_line(tame_line(rest))


def tame_line(line: str) -> str:
    """A line as the terminal would show it: colours are kept, whatever else steers is spelt."""
    line = line.rstrip("\r").rpartition("\r")[2].expandtabs()
    parts = _COLOUR.split(line)
    shown = "".join(part if number % 2 else make_visible(part) for number, part in enumerate(parts))
    return f"{shown}\x1b[0m" if len(parts) > 1 else shown
