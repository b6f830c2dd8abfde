"""`--processes N`: workers that are processes of this machine."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from evalcase.config.config import EngineSettings
from evalcase.executors.executor import WorkerExecutor, select_variables
from evalcase.executors.pool import Pool, Worker
from evalcase.executors.protocol import ToWorker, write_message
from evalcase.runner.plan import Plan
from evalcase.util.processes import Process, describe_exit
from evalcase.util.secrets import Scrubber


class ProcessExecutor(WorkerExecutor):
    """Processes that end with the run, however that ends."""

    def __init__(self, settings: EngineSettings, plan: Plan) -> None:
        super().__init__(settings, plan)
        self._scrubber = plan.scrubber

    def make_pool(self) -> AbstractContextManager[Pool]:
        variables = select_variables(self._setup.variables, self._variables)
        make = partial(ProcessWorker, self._setup.cwd, variables, self._scrubber)
        workers = self._settings.workers or count_cores()
        return nullcontext(self._pool_of(workers, workers, make))


def count_cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class ProcessWorker(Worker):
    """A worker that is a process: its output is messages, and what is for people."""

    def __init__(self, cwd: str, environment: Mapping[str, str], scrubber: Scrubber) -> None:
        super().__init__()
        # Without `-P`, modules of the working folder would hide those of Python.
        argv = [sys.executable, "-P", "-m", "evalcase.executors.worker"]
        self._process = Process(argv, cwd, environment, sys.maxsize, self._show)
        self._scrubber = scrubber
        self._reading: asyncio.Task[None] | None = None

    def _show(self, data: bytes) -> None:
        sys.stderr.write(self._scrubber.text(data.decode(errors="backslashreplace")))

    async def start(self) -> None:
        await self._process.start(with_stdin=True)
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        async with self._process:
            while (line := (await self._process.read_line()).data).endswith(b"\n"):
                self.receive(line)
            # Its output was shown, and is not recorded: it may have a secret that only it knows.
            self.lose(f"it {describe_exit(await self._process.wait())}")

    async def close(self, grace_s: float) -> None:
        if self._reading is not None:
            self._process.close_stdin()
            await asyncio.wait([self._reading], timeout=grace_s)
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def send(self, message: ToWorker) -> None:
        self._process.write(write_message(message))

    def end(self) -> None:
        self._process.kill()
