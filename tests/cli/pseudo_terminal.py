"""The command in a terminal of its own, with what a person would see of it and type into it."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
from collections.abc import Mapping
from pathlib import Path

from tests.cli.command import LIMIT_S, start_process
from tests.report.terminal.screen import Screen

CTRL_C = b"\x03"


class PseudoTerminal:
    def __init__(
        self, folder: Path, *arguments: str, columns: int = 80, env: Mapping[str, str] | None = None
    ) -> None:
        self.columns = columns
        self.here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = start_process(
            *arguments, cwd=folder, env={"TERM": "xterm", **(env or {})},
            stdin=there, stdout=there, stderr=there, terminal=True,
        )  # fmt: skip
        os.close(there)
        self.written = b""

    def type(self, keys: bytes) -> None:
        os.write(self.here, keys)

    def await_text(self, pattern: str) -> None:
        """Wait until it has written something."""
        while not re.search(pattern.encode(), self.written):
            assert self._read(), f"it wrote only {self.written!r}"

    def await_reading(self) -> None:
        """Wait until it waits for keys. A signal that comes between a prompt and the call that
        reads is seen by Python only after that, so that a person has to press Ctrl-C twice."""
        state = Path(f"/proc/{self.process.pid}/stat")
        while state.exists() and state.read_text().rpartition(") ")[2][0] not in "SZ":
            os.sched_yield()

    def finish(self) -> int:
        """Read on until it ends; the exit code."""
        while self._read():
            pass
        os.close(self.here)
        return self.process.wait(LIMIT_S)

    def _read(self) -> bytes:
        ready, _, _ = select.select([self.here], [], [], LIMIT_S)
        assert ready, f"it hangs after {self.written!r}"
        try:
            more = os.read(self.here, 65536)
        except OSError:  # Linux says so when the other end is closed
            return b""
        self.written += more
        return more

    @property
    def text(self) -> str:
        return self.written.decode()

    def screen(self) -> list[str]:
        """What is left on the screen, with ids and times made the same."""
        screen = Screen(self.columns)
        screen.write(self.text)
        assert screen.column == 0, "the prompt would not stand on a line of its own"
        return [_steady(line) for line in screen.lines]


def _steady(line: str) -> str:
    line = re.sub(r"\d{8}-\d{6}-[0-9a-f]{6}", "RUN", line)
    return re.sub(r"\d+\.\d+ s\b", "0.1 s", line)
