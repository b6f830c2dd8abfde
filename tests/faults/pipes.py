"""A pipe that processes hold open while they live, so that tests need not guess how many do."""

import os
import select
from pathlib import Path

from tests.cli.command import LIMIT_S


class Alive:
    """Processes that open `alive` for writing, write one byte, and hold it until they end."""

    HANG = """
import os, time
if "EXIT" in os.environ:
    raise SystemExit(5)
alive = os.open("alive", os.O_WRONLY)
os.write(alive, b".")
time.sleep(600)
"""

    def __init__(self, folder: Path) -> None:
        os.mkfifo(folder / "alive")
        self._pipe = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
        self._seen = 0

    def await_number(self, count: int) -> None:
        """Wait until so many have come up since the beginning."""
        while self._seen < count:
            self._await_news()
            more = os.read(self._pipe, 100)
            assert more, "they are gone"
            self._seen += len(more)

    def await_none(self) -> None:
        """Wait until the last of them is gone; maybe none has come."""
        while self._read():
            pass
        os.close(self._pipe)

    def _read(self) -> bytes:
        """What was written; nothing if nobody holds the pipe."""
        try:
            return os.read(self._pipe, 100)
        except BlockingIOError:
            self._await_news()
            return os.read(self._pipe, 100)

    def _await_news(self) -> None:
        ready, _, _ = select.select([self._pipe], [], [], LIMIT_S)
        assert ready, f"after {self._seen} of them, nothing happens"
