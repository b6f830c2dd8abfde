"""A door bell: processes ring it with their pid, so that tests need not guess when they are up."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from types import TracebackType

from evalcase.util.process_tree import find_process, has_ended

RING = """
import os, signal, socket, sys, time

def ring():
    bell = socket.create_connection(("127.0.0.1", int(os.environ["BELL"])))
    bell.sendall(b"%d\\n" % os.getpid())
    return bell

def ring_and_hang():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    bell = ring()
    while True:
        time.sleep(600)

def start(function):
    if os.fork() == 0:
        function()
        os._exit(0)

def in_a_new_session():
    os.setsid()
    ring_and_hang()

def as_a_daemon():
    os.setsid()
    start(ring_and_hang)
"""


class Bell(AbstractAsyncContextManager["Bell"]):
    """It has a port: the path of a Unix socket in a folder of pytest's may be too long."""

    def __init__(self) -> None:
        self._pids: asyncio.Queue[int] = asyncio.Queue()
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Bell:
        self._server = await asyncio.start_server(self._rung, "127.0.0.1")
        self.port = str(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self._server.close()
        for writer in self._writers:
            writer.close()

    async def _rung(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self._pids.put_nowait(int(await reader.readline()))

    async def wait_for(self, count: int) -> list[int]:
        """The pids of the next processes that ring."""
        async with asyncio.timeout(120):
            return [await self._pids.get() for _ in range(count)]


def is_there(pid: int) -> bool:
    """Whether a process is left; a zombie has ended, and only its parent has not seen it."""
    process = find_process(pid)
    return process is not None and not has_ended(process)
