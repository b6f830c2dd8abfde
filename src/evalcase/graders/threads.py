"""Threads for plain functions of the user, which may be slow, may block, and may never return.

They are not an executor's threads. Those are waited for when Python ends, so that one grader that
hangs would keep the command from ending. And those all wake up for work that one could do, which
costs several times as much as the work of a usual grader.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

_PATIENCE_S = 0.005
"""How long work waits for the threads there are, before there is one more for each piece of it."""


class _Outcome(NamedTuple):
    """A future can't hold every exception (StopIteration, for one), so the outcome is a value."""

    value: object
    error: BaseException | None


class _Job(NamedTuple):
    function: Callable[[], object]
    context: Context
    done: asyncio.Future[_Outcome]
    caller: _Caller


class _Caller:
    """An event loop that has calls under way. It is woken once for all that is ready by then."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.is_watching = False
        self._ready: deque[tuple[asyncio.Future[_Outcome], _Outcome]] = deque()
        self._is_called = False

    def deliver(self, done: asyncio.Future[_Outcome], outcome: _Outcome) -> None:
        """Called in the thread that did the work."""
        self._ready.append((done, outcome))
        if self._is_called:
            return
        self._is_called = True
        try:
            self.loop.call_soon_threadsafe(self._settle)
        except RuntimeError:
            return  # The loop was closed in the meantime: nobody waits any more.

    def _settle(self) -> None:
        # Before the first look, so that nothing that comes after the last one is left lying.
        self._is_called = False
        while self._ready:
            done, outcome = self._ready.popleft()
            if not done.done():
                done.set_result(outcome)


class Threads:
    """As many threads as it takes: one while calls are quick, more when they keep others waiting.

    There is no upper limit, as the engine has one: a trial has one call under way at a time.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._count = 0
        self._taken = 0
        self._caller: _Caller | None = None

    async def call(self, function: Callable[[], object]) -> object:
        """What the function returns or raises. If this is cancelled, its thread is given up."""
        caller = self._caller
        loop = asyncio.get_running_loop()
        if caller is None or caller.loop is not loop:
            caller = self._caller = _Caller(loop)
        done: asyncio.Future[_Outcome] = loop.create_future()
        self._jobs.put(_Job(function, copy_context(), done, caller))
        if not self._count:
            self._start(1)
        if not caller.is_watching:
            caller.is_watching = True
            loop.call_later(_PATIENCE_S, self._watch, caller, self._taken)
        value, error = await done
        if error is not None:
            raise error
        return value

    def _watch(self, caller: _Caller, taken: int) -> None:
        """Start threads if none has taken work since the last look; look on while work waits."""
        waiting = self._jobs.qsize()
        caller.is_watching = waiting > 0
        if not waiting:
            return
        if taken == self._taken:
            self._start(waiting)
        caller.loop.call_later(_PATIENCE_S, self._watch, caller, self._taken)

    def _start(self, count: int) -> None:
        self._count += count
        for _ in range(count):
            Thread(target=self._work, name="evalcase-grader", daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            self._taken += 1
            if not job.done.done():  # else it was cancelled before its turn came
                job.caller.deliver(job.done, _do(job))


def _do(job: _Job) -> _Outcome:
    try:
        return _Outcome(job.context.run(job.function), None)
    except BaseException as error:  # noqa: BLE001 - it is raised again where the call was made
        return _Outcome(None, error)


THREADS = Threads()
"""Shared by all graders of the process, as there may be one grader for each of a million cases."""
