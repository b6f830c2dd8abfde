"""The engine: many trials under way at once, each on its own, none lost.

Every target has workers of its own that take trials from its stream; a gate bounds how many are
under way in all. A trial that is done goes to `keep`, and counts only when that has called back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from evalcase.model.result import Result
from evalcase.model.target import Target
from evalcase.model.trial import Trial
from evalcase.run.limits import Limits
from evalcase.run.pace import Pace


class Watcher(Protocol):
    """Is told what happens, in the thread of the event loop."""

    def started(self, trial: Trial) -> None: ...
    def finished(self, result: Result) -> None: ...


class _Place:
    """One of the places that a gate has, or none."""

    def __init__(self, gate: asyncio.Semaphore) -> None:
        self._gate = gate
        self._is_held = False

    async def take(self) -> None:
        await self._gate.acquire()
        self._is_held = True

    def give(self) -> None:
        if self._is_held:
            self._is_held = False
            self._gate.release()


class Engine:
    """Runs the trials of some targets. `stop` lets what is under way finish; `cancel` doesn't."""

    def __init__(
        self,
        limits: Limits,
        try_one: Callable[[Target, Trial], Awaitable[Result]],
        keep: Callable[[Result], Awaitable[None]],
        watcher: Watcher,
    ) -> None:
        self.limits = limits
        self.try_one = try_one
        self.keep = keep
        self.watcher = watcher
        self.stopping = False
        self.interrupted = False
        self.failed_fast = False
        self.spent_usd = 0.0
        self.stop_reason: str | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._places: dict[asyncio.Task[Any], _Place] = {}
        self._waiting: set[asyncio.Task[Any]] = set()
        """Those whose trial has nothing under way."""

    async def run(self, work: dict[str, tuple[Target, Iterator[Trial]]]) -> None:
        """Run everything; return when it is done, or stopped."""
        gate = asyncio.Semaphore(self.limits.concurrency)
        self._tasks = [
            asyncio.create_task(self._work(target, trials, gate))
            for name, (target, trials) in work.items()
            for _ in range(self.limits.of_target(name))
        ]
        try:
            await asyncio.gather(*self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self, reason: str) -> None:
        """Start no more trials, and give up those that only wait for their next attempt."""
        self.stopping = True
        self.stop_reason = self.stop_reason or reason
        for task in self._waiting:
            task.cancel()

    def interrupt(self) -> None:
        """Start no more trials, because a person said so."""
        self.interrupted = True
        self.stop("interrupted")

    def cancel(self) -> None:
        """Give up what is under way, too."""
        self.stop("stopped")
        for task in self._tasks:
            task.cancel()

    async def sleep(self, seconds: float) -> None:
        """Wait within a trial for its next attempt, unless the engine stops."""
        async with self._aside():
            await asyncio.sleep(seconds)

    async def turn(self, pace: Pace) -> float:
        """Wait within a trial until its target may be asked, unless the engine stops."""
        async with self._aside():
            return await pace.begin()

    @asynccontextmanager
    async def _aside(self) -> AsyncIterator[None]:
        """Step aside, so that trials of other targets can go on meanwhile."""
        task = asyncio.current_task()
        assert task is not None
        place = self._places.get(task)
        self._waiting.add(task)
        if self.stopping:
            task.cancel()
        if place is not None:
            place.give()
        try:
            yield
            if place is not None:
                await place.take()
        finally:
            self._waiting.discard(task)

    async def _work(self, target: Target, trials: Iterator[Trial], gate: asyncio.Semaphore) -> None:
        try:
            await self._go_through(target, trials, gate)
        except asyncio.CancelledError:
            if not self.stopping:
                raise

    async def _go_through(
        self, target: Target, trials: Iterator[Trial], gate: asyncio.Semaphore
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        place = self._places[task] = _Place(gate)
        while True:
            await place.take()
            try:
                trial = self._next(trials)
                if trial is None:
                    return
                self.watcher.started(trial)
                result = await self.try_one(target, trial)
            finally:
                place.give()
            await self.keep(result)
            self._count(result)

    def _next(self, trials: Iterator[Trial]) -> Trial | None:
        return None if self.stopping else next(trials, None)

    def spend(self, cost_usd: float) -> None:
        """Count money that was spent, also before a run was resumed."""
        self.spent_usd += cost_usd
        cap = self.limits.max_cost_usd
        if cap is not None and self.spent_usd >= cap:
            self.stop(f"the spending cap of {cap:g} USD is reached; --max-cost raises it")

    def _count(self, result: Result) -> None:
        if result.answer is not None and result.answer.cost_usd is not None:
            self.spend(result.answer.cost_usd)
        if self.limits.fail_fast and result.verdict in ("failed", "errored", "ungraded"):
            self.failed_fast = True
            self.stop("--fail-fast: the first trial that did not pass")
