"""The engine: many trials under way at once, each on its own, none lost.

Every target has workers of its own that take trials from its stream; slots bound how many are
under way in all. A trial that is done goes to `keep`, and counts only when that has called back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from typing import Any, Protocol

from evalcase.runner.events import Watcher
from evalcase.runner.pacing import Limits, Pace, Start
from evalcase.runner.stopping import FailFast
from evalcase.store.rows import End, Status
from evalcase.types.result import Result, Totals, Trial


class _Slots:
    """So many slots, taken in turn. A semaphore does the same, and takes three times as long."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take_at_once(self) -> bool:
        """Take one, if nobody has to be waited for."""
        if self._free <= 0 or self._waiting:
            return False
        self._free -= 1
        return True

    async def take(self) -> None:
        if self.take_at_once():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()  # it was handed a slot that nobody needs any more
            raise

    def give(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class _Slot:
    """One of the slots, or none."""

    def __init__(self, slots: _Slots) -> None:
        self._slots = slots
        self._is_held = False

    async def take(self) -> None:
        await self._slots.take()
        self._is_held = True

    def take_at_once(self) -> bool:
        self._is_held = self._slots.take_at_once()
        return self._is_held

    def give(self) -> None:
        if self._is_held:
            self._is_held = False
            self._slots.give()


class Engine:
    """Runs the trials of some targets. `stop` lets what is under way finish; `cancel` doesn't."""

    def __init__(
        self,
        limits: Limits,
        watcher: Watcher,
        fail_fast: FailFast | None = None,
        context: Context | None = None,
        decide: Callable[[Result], str | None] | None = None,
    ) -> None:
        """`context` is what code of targets and graders finds set; `decide` says why no more
        trials need be started after a result, if that is so."""
        self.limits = limits
        self.watcher = watcher
        self.fail_fast = fail_fast
        self.decide = decide
        self.stopping = False
        self.interrupted = False
        self.failed_fast = False
        self.stop_reason: str | None = None
        self._context = context or copy_context()
        self._tasks: list[asyncio.Task[None]] = []
        self._held: dict[asyncio.Task[Any], _Slot] = {}
        self._waiting: set[asyncio.Task[Any]] = set()
        """Those whose trial has nothing under way."""

    async def run(
        self,
        work: Mapping[str, Iterator[Trial]],
        try_one: Callable[[Trial], Awaitable[Result]],
        keep: Callable[[Trial, Result], Awaitable[None] | None],
    ) -> None:
        """Try the trials of every target, and keep what comes of each; return when all is done,
        or stopped."""
        self._try_one, self._keep = try_one, keep
        slots = _Slots(self.limits.concurrency)
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._work(trials, slots), context=self._context.copy())
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
        # What went wrong in one has the others given up: it is raised first.
        for task in sorted(self._tasks, key=asyncio.Task.cancelled):
            task.result()

    async def before(self, preparing: Coroutine[Any, Any, None]) -> None:
        """Do something before there are trials. It is given up with the engine, or where it waits
        by `sleep` once the engine stops."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(preparing, context=self._context.copy())
        self._tasks = [task]
        try:
            await asyncio.wait(self._tasks)
        finally:
            task.cancel()
        if not (task.cancelled() and self.stopping):
            task.result()

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

    async def start(self, pace: Pace) -> Start:
        """Wait within a trial until its target may be asked, unless the engine stops."""
        async with self._aside():
            return await pace.begin()

    @asynccontextmanager
    async def _aside(self) -> AsyncIterator[None]:
        """Step aside, so that trials of other targets can go on meanwhile."""
        task = asyncio.current_task()
        assert task is not None
        slot = self._held.get(task)
        self._waiting.add(task)
        if self.stopping:
            task.cancel()
        if slot is not None:
            slot.give()
        try:
            yield
            if slot is not None:
                await slot.take()
        finally:
            self._waiting.discard(task)

    async def _work(self, trials: Iterator[Trial], slots: _Slots) -> None:
        try:
            await self._go_through(trials, slots)
        except asyncio.CancelledError:
            if not self.stopping:
                raise

    async def _go_through(self, trials: Iterator[Trial], slots: _Slots) -> None:
        task = asyncio.current_task()
        assert task is not None
        slot = self._held[task] = _Slot(slots)
        while True:
            if not slot.take_at_once():
                await slot.take()
            try:
                trial = self._next(trials)
                if trial is None:
                    return
                self.watcher.started(trial)
                result = await self._try_one(trial)
            finally:
                slot.give()
            waiting = self._keep(trial, result)
            if waiting is not None:
                await waiting
            if self.fail_fast is not None or self.decide is not None:
                self._look_at(result)

    def _next(self, trials: Iterator[Trial]) -> Trial | None:
        return None if self.stopping else next(trials, None)

    def _look_at(self, result: Result) -> None:
        if self.fail_fast is not None and self.fail_fast.must_stop(result):
            self.failed_fast = True
            self.stop(f"--fail-fast: {result.key.case} did not pass")
        if self.decide is not None and (reason := self.decide(result)) is not None:
            self.stop(reason)


class Job(Protocol):
    """All that is left to do, whatever it is."""

    @property
    def grading(self) -> int:
        """Which of its gradings the run stands at."""
        ...

    async def go(self, engine: Engine) -> tuple[Status, str | None]:
        """Do all of it. Return how it ended, and why if it ended early."""
        ...

    def complete_end(self, end: End) -> End:
        """The same end, with what is known here of how far it came."""
        ...

    def totals(self) -> Totals | None:
        """What all comes to; None if only the journal can say."""
        ...

    def mixed(self) -> tuple[str, ...]:
        """The targets that were changed while there were answers of theirs that still count."""
        ...
