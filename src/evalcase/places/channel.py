"""A run's end of one worker: messages out, messages in, and the word that it has ended."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from evalcase.errors import TargetError
from evalcase.places.wire import from_line, to_line
from evalcase.system.processes import guard, tree
from evalcase.system.processes.memory import resident_bytes
from evalcase.system.processes.process import describe_exit

_END_S = 2.0


class Hearer(Protocol):
    """Who is told what comes from a worker."""

    def take(self, channel: Channel, message: dict[str, Any]) -> None: ...
    def lose(self, channel: Channel, how: str) -> None:
        """It has ended; `how` says so in words."""
        ...


class Channel(Protocol):
    """A worker, as a run sees it."""

    async def start(self, listener: Hearer) -> None:
        """Raise TargetError if it can't be started."""
        ...

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, in order; one that has not started yet gets it then."""
        ...

    def kill(self, why: str) -> None:
        """End it at once; `why` is what is told of it."""
        ...

    async def close(self, grace_s: float) -> None:
        """Let it tear down, and end it if that takes longer."""
        ...

    def memory_bytes(self) -> int | None:
        """What it takes just now; None where that can't be seen."""
        ...


class _Pipes(asyncio.SubprocessProtocol):
    """What a process writes: messages, and what is for people."""

    def __init__(self, channel: ProcessChannel) -> None:
        self._channel = channel
        self._rest = b""
        self._open = {1, 2}
        self._exited = False

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._channel.show(data)
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._channel.receive(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        self._open.discard(fd)
        self._look()

    def process_exited(self) -> None:
        self._exited = True
        self._look()

    def _look(self) -> None:
        """All that it wrote has come, unless something that it started holds its pipes."""
        if self._exited and 1 not in self._open:
            self._channel.end_told()
        elif self._exited:
            asyncio.get_running_loop().call_later(0.2, self._channel.end_told)


class ProcessChannel:
    """A worker that is a process of this machine."""

    def __init__(
        self, cwd: str, environment: Mapping[str, str], show: Callable[[str], None]
    ) -> None:
        self._cwd = cwd
        self._environment = environment
        self._show = show
        self._token = ""
        self._pipes = _Pipes(self)
        self._transport: asyncio.SubprocessTransport | None = None
        self._born: int | None = None
        self._listener: Hearer | None = None
        self._killed_for = ""
        self._family: dict[int, int] = {}
        self._lines: list[bytes] = []
        self._over = asyncio.Event()

    async def start(self, listener: Hearer) -> None:
        self._listener = listener
        self._token = tree.new_token()
        argv = [sys.executable, "-m", "evalcase.places.process_worker"]
        loop = asyncio.get_running_loop()
        try:
            self._transport, _ = await loop.subprocess_exec(
                lambda: self._pipes, *argv, cwd=self._cwd, start_new_session=True,
                env={**self._environment, tree.TOKEN: self._token},
            )  # fmt: skip
        except OSError as error:
            raise TargetError(f"a worker can't be started: {error.strerror or error}") from error
        self._born = guard.born(self._transport.get_pid() or 0)
        self._flush()

    def send(self, message: dict[str, Any]) -> None:
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._flush)
        self._lines.append(to_line(message))

    def receive(self, line: bytes) -> None:
        """Take a line that it wrote."""
        assert self._listener is not None
        try:
            message = from_line(line)
        except ValueError:
            self.kill("it wrote what is no message")
            return
        self._listener.take(self, message)

    def show(self, data: bytes) -> None:
        """Pass on what is for people."""
        self._show(data.decode(errors="backslashreplace"))

    def kill(self, why: str) -> None:
        self._killed_for = self._killed_for or why
        self._end_family()

    def end_told(self) -> None:
        """It has ended, and all that it wrote was read."""
        if self._over.is_set():
            return
        self._over.set()
        self._end_family()
        assert self._listener is not None
        self._listener.lose(self, self._killed_for or self._how())
        tree.reap_later(self._family)
        if self._transport is not None:
            self._transport.close()

    async def close(self, grace_s: float) -> None:
        if self._transport is None:
            return
        self.send({"op": "close"})
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self._over.wait()
        self._end_family()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await self._over.wait()
        tree.reap_later(self._family)
        self._transport.close()

    def memory_bytes(self) -> int | None:
        pid = self._transport.get_pid() if self._transport is not None else None
        return resident_bytes(pid)

    def _how(self) -> str:
        assert self._transport is not None
        code = self._transport.get_returncode()
        # What it wrote was shown, and is no part of a record: it may have a secret in it that only
        # the worker knows.
        return f"it {describe_exit(code)}" if code is not None else "it closed its output"

    def _flush(self) -> None:
        if self._transport is None:
            return  # once it has started
        lines, self._lines = self._lines, []
        stdin = self._transport.get_pipe_transport(0)
        if isinstance(stdin, asyncio.WriteTransport) and not stdin.is_closing():
            stdin.write(b"".join(lines))

    def _end_family(self) -> None:
        assert self._transport is not None
        self._family |= tree.end_family(self._transport.get_pid() or 0, self._token, self._born)
