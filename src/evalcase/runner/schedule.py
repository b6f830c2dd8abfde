"""Many trials at once: each target has workers of its own, and slots bound how many trials run in
all. And what may end a run early."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from typing import Any, Protocol

from msgspec import Struct

from evalcase.runner.pacing import Limits, Pace, Start
from evalcase.store.index import Index
from evalcase.types.grade import reaches
from evalcase.types.result import Result, Trial, Verdict, decide_case_verdict
from evalcase.util.table import mark_of


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
        """End running trials, too."""
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
        """Give the slot of a trial to trials of other targets meanwhile."""
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


# What may end a run early


class EarlyStop(Protocol):
    """May end a run early. The run asks it after each trial."""

    def after(self, result: Result) -> str | None:
        """Why no more trials need be started after a result; None if they must."""


class _Tried(Struct):
    """The trials so far of a case that has several."""

    trials: int = 0
    passed: int = 0
    errored: bool = False


class FailFast:
    """`--fail-fast`: ends a run at the first case that fails, or with too many errored trials."""

    def __init__(self, max_errors: int = 0) -> None:
        self.has_failed = False
        self._errors_left = max_errors
        self._open: dict[int, _Tried] = {}

    @classmethod
    def of(cls, index: Index, max_errors: int, again: tuple[Verdict, ...]) -> FailFast:
        """For a resumed run: cases that failed before don't end it."""
        rule = cls(max_errors)
        for each in index.by_case():
            if each.verdict not in again:
                rule._fails(each.case, each.verdict, each.repeats, each.pass_rate)
        return rule

    def after(self, result: Result) -> str | None:
        if result.verdict == "skipped":
            return None
        self._errors_left -= result.verdict == "errored"
        group = mark_of(result.key[:3])
        has_failed = self._fails(group, result.verdict, result.repeats, result.pass_rate)
        if not has_failed and self._errors_left >= 0:
            return None
        self.has_failed = True
        return f"--fail-fast: {result.key.case} did not pass"

    def _fails(self, group: int, verdict: Verdict, repeats: int, pass_rate: float) -> bool:
        """Whether a case has failed with a trial: too few trials are left for it to pass."""
        if repeats <= 1:
            return decide_case_verdict((verdict,), pass_rate) in ("failed", "ungraded")
        tried = self._open.setdefault(group, _Tried())
        tried.trials += 1
        tried.passed += verdict == "passed"
        tried.errored = tried.errored or verdict == "errored"
        if tried.trials >= repeats:
            del self._open[group]
        left = repeats - tried.trials
        # A case with an errored trial that doesn't pass is errored, not failed.
        return not tried.errored and not reaches(tried.passed + left, pass_rate * repeats)
