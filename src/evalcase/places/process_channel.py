"""A worker that is a process of this machine, by its pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from psutil import Process

from evalcase.errors import TargetError
from evalcase.places.channel import LineChannel
from evalcase.util.process_tree import TOKEN, end_family, find_process, new_token, resident_bytes
from evalcase.util.processes import describe_exit

_END_S = 2.0


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
            self._channel.hear(line)

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


class ProcessChannel(LineChannel):
    """A worker that is a process of this machine."""

    def __init__(
        self, cwd: str, environment: Mapping[str, str], show: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._cwd = cwd
        self._environment = environment
        self._show = show
        self._token = ""
        self._pipes = _Pipes(self)
        self._transport: asyncio.SubprocessTransport | None = None
        self._root: Process | None = None

    async def _start(self) -> None:
        self._token = new_token()
        # Without `-P`, modules of the working folder would take the place of any that Python has.
        argv = [sys.executable, "-P", "-m", "evalcase.places.process_worker"]
        loop = asyncio.get_running_loop()
        try:
            self._transport, _ = await loop.subprocess_exec(
                lambda: self._pipes, *argv, cwd=self._cwd, start_new_session=True,
                env={**self._environment, TOKEN: self._token},
            )  # fmt: skip
        except OSError as error:
            raise TargetError(f"a worker can't be started: {error.strerror or error}") from error
        self._root = find_process(self._transport.get_pid())

    def show(self, data: bytes) -> None:
        """Pass on what is for people."""
        self._show(data.decode(errors="backslashreplace"))

    def end_told(self) -> None:
        """It has ended, and all that it wrote was read."""
        if self._over.is_set():
            return
        self._end_worker()
        self.lose(self._how())
        if self._transport is not None:
            self._transport.close()

    async def close(self, grace_s: float) -> None:
        if self._transport is None:
            return
        self.send({"op": "close"})
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self._over.wait()
        self._end_worker()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await self._over.wait()
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

    def _end_worker(self) -> None:
        end_family(self._token, self._root)
