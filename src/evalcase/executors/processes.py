"""`--processes N`: workers that are processes of this machine."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from math import ceil

from psutil import Process

from evalcase.config.config import EngineSettings
from evalcase.errors import TargetError
from evalcase.executors.executor import WorkerExecutor, make_setup, select_variables
from evalcase.executors.pool import Pool, Size, Worker
from evalcase.runner.plan import Plan
from evalcase.util.process_tree import (
    TOKEN,
    close_guard,
    end_family,
    find_process,
    new_token,
    open_guard,
)
from evalcase.util.processes import describe_exit
from evalcase.util.secrets import Scrubber

_END_S = 2.0
_LAST_OUTPUT_S = 0.2


class ProcessExecutor(WorkerExecutor):
    """Processes that end with the run, however that ends."""

    def __init__(self, settings: EngineSettings, plan: Plan) -> None:
        super().__init__(plan.warn)
        self._setup = make_setup(plan, settings)
        self._environment = select_variables(self._setup.variables, plan.environment.variables)
        self._scrubber = plan.scrubber
        workers = settings.workers or count_cores()
        at_once = plan.options.concurrency or plan.config.concurrency
        self._size = Size(workers, workers, ceil(at_once / workers))

    def begin(self) -> None:
        open_guard()

    def leave(self) -> None:
        close_guard()

    def make_pool(self) -> Pool:
        make = partial(ProcessWorker, self._setup.cwd, self._environment, self._scrubber)
        return Pool(self._size, make, self._setup, self.listen, self.warn_lost)


def count_cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class ProcessWorker(Worker, asyncio.SubprocessProtocol):
    """A worker that is a process: its output is messages, and what is for people."""

    def __init__(self, cwd: str, environment: Mapping[str, str], scrubber: Scrubber) -> None:
        super().__init__()
        self._cwd = cwd
        self._environment = environment
        self._scrubber = scrubber
        self._token = ""
        self._transport: asyncio.SubprocessTransport | None = None
        self._root: Process | None = None
        self._rest = b""
        """The start of a line that it has not ended yet."""
        self._is_open = True
        self._has_exited = False

    async def start(self) -> None:
        self._token = new_token()
        # Without `-P`, modules of the working folder would hide those of Python.
        argv = [sys.executable, "-P", "-m", "evalcase.executors.worker"]
        loop = asyncio.get_running_loop()
        try:
            self._transport, _ = await loop.subprocess_exec(
                lambda: self, *argv, cwd=self._cwd, start_new_session=True,
                env={**self._environment, TOKEN: self._token},
            )  # fmt: skip
        except OSError as error:
            raise TargetError(f"a worker can't be started: {error.strerror or error}") from error
        self._root = find_process(self._transport.get_pid())

    # Called by asyncio.

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            sys.stderr.write(self._scrubber.text(data.decode(errors="backslashreplace")))
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self.receive(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        if fd == 1:
            self._is_open = False
            self._check_end()

    def process_exited(self) -> None:
        self._has_exited = True
        self._check_end()

    def _check_end(self) -> None:
        if self._has_exited and not self._is_open:
            self._finish()
        elif self._has_exited:  # a process that it started may hold its pipes
            asyncio.get_running_loop().call_later(_LAST_OUTPUT_S, self._finish)

    def _finish(self) -> None:
        if self._over.is_set() or self._transport is None:
            return
        self.end()
        code = self._transport.get_returncode()
        # Its output was shown, and is not recorded: it may have a secret that only it knows.
        self.lose(f"it {describe_exit(code)}" if code is not None else "it closed its output")
        self._transport.close()

    async def close(self, grace_s: float) -> None:
        if self._transport is None:
            return
        stdin = self._transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()
        await self._await_end(grace_s)
        self.end()
        await self._await_end(_END_S)
        self._transport.close()

    async def _await_end(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()

    def flush(self) -> None:
        if self._transport is None:
            return
        lines, self._lines = self._lines, []
        stdin = self._transport.get_pipe_transport(0)
        if isinstance(stdin, asyncio.WriteTransport) and not stdin.is_closing():
            stdin.write(b"".join(lines))

    def end(self) -> None:
        end_family(self._token, self._root)
