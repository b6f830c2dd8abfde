"""What a process writes, taken in as it comes and within bounds; and the moment of its end.

The streams of asyncio are of no use here: in some versions of Python they report the end of a
process only when nobody holds its pipes any more, be it a forgotten descendant.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

TAIL_BYTES = 4096
"""How much of stderr is kept."""


class Output(NamedTuple):
    data: bytes
    truncated: bool


class Pipes(asyncio.SubprocessProtocol):
    """Keeps the first bytes of stdout and the last of stderr. What is over is forgotten."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._stdout = bytearray()
        self._truncated = False
        self._open = {1, 2}
        self._read_or_closed = asyncio.Event()
        self._all_closed = asyncio.Event()
        self.tail = bytearray()
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.tail += data
            del self.tail[:-TAIL_BYTES]
            return
        room = self._most_bytes - len(self._stdout)
        self._truncated = self._truncated or room < len(data)
        self._stdout += data[:room] if room < len(data) else data
        self._read_or_closed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        self._open.discard(fd)
        self._read_or_closed.set()
        if not self._open:
            self._all_closed.set()

    def process_exited(self) -> None:
        self.exited.set()

    async def read_all(self) -> Output:
        """All of stdout, once stdout and stderr are closed."""
        await self._all_closed.wait()
        return Output(bytes(self._stdout), self._truncated)

    @property
    def unread(self) -> bytes:
        """What came on stdout, and nobody has read yet."""
        return bytes(self._stdout)

    async def read_line(self) -> Output:
        """The next line of stdout. Without a line feed it is the last, or over the bound."""
        seen = 0
        while (end := self._stdout.find(b"\n", seen)) < 0:
            seen = len(self._stdout)
            if self._truncated or 1 not in self._open:
                return self._take(seen)
            self._read_or_closed.clear()
            await self._read_or_closed.wait()
        return self._take(end + 1)

    def _take(self, length: int) -> Output:
        data = bytes(self._stdout[:length])
        del self._stdout[:length]
        return Output(data, self._truncated)
