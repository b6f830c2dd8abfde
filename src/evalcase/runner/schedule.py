"""Many trials at once: each target has workers of its own, and slots bound how many trials run in
all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from typing import Any

from evalcase.runner.pacing import Limits
from evalcase.types.result import Trial


class Engine:
    """Runs trials. `stop` lets running trials finish; `cancel` doesn't."""

    def __init__(self, limits: Limits, context: Context | None = None) -> None:
        """`context` holds what set-up of targets has set, for the code of targets and graders."""
        self.limits = limits
        self.stopping = False
        self.interrupted = False
        self.stop_reason: str | None = None
        self._context = context or copy_context()
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._tasks: list[asyncio.Task[None]] = []
        self._waiting: set[asyncio.Task[Any]] = set()
        """Tasks whose trial waits for its next attempt, and holds no slot."""

    async def run(
        self, work: Mapping[str, Iterator[Trial]], one: Callable[[Trial], Awaitable[None]]
    ) -> None:
        """Run the trials of every target; return when all are done, or the engine was stopped."""
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._work(trials, one), context=self._context.copy())
            for name, trials in work.items()
            for _ in range(self.limits.of_target(name))
        ]
        try:
            if self._tasks:
                await asyncio.wait(self._tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        # An exception in one task cancels the others: it is raised first.
        for task in sorted(self._tasks, key=asyncio.Task.cancelled):
            task.result()

    async def before(self, preparing: Coroutine[Any, Any, None]) -> None:
        """Do something before the trials. It ends with the engine; where it waits by `sleep`, it
        ends when the engine stops."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(preparing, context=self._context.copy())
        self._tasks = [task]
        await self._slots.acquire()
        try:
            await asyncio.wait(self._tasks)
        finally:
            task.cancel()
            self._slots.release()
        if not (task.cancelled() and self.stopping):
            task.result()

    def stop(self, reason: str) -> None:
        """Start no more trials, and end those that only wait for their next attempt."""
        self.stopping = True
        self.stop_reason = self.stop_reason or reason
        for task in self._waiting:
            task.cancel()

    def interrupt(self) -> None:
        """Start no more trials, because a person said so."""
        self.interrupted = True
        self.stop("interrupted")

    def cancel(self) -> None:
        self.stop("stopped")
        for task in self._tasks:
            task.cancel()

    async def sleep(self, seconds: float) -> None:
        async with self.aside():
            await asyncio.sleep(seconds)

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Within a trial: give its slot to trials of other targets while it waits. If the engine
        stops, that ends the trial."""
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        if self.stopping:
            task.cancel()
        self._slots.release()
        try:
            yield
        finally:
            self._waiting.discard(task)
            await self._slots.acquire()

    async def _work(self, trials: Iterator[Trial], one: Callable[[Trial], Awaitable[None]]) -> None:
        try:
            async with self._slots:
                while (trial := None if self.stopping else next(trials, None)) is not None:
                    await one(trial)
                    if len(self._tasks) > self.limits.concurrency:  # others wait for a slot
                        self._slots.release()
                        await self._slots.acquire()
        except asyncio.CancelledError:
            if not self.stopping:
                raise
