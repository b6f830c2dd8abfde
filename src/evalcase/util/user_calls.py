"""Calls of user code under a time limit: a task for each call, and daemon threads for functions
that block.

User code may raise anything, swallow its cancellation or never return. So no task of evalcase
awaits it directly: its task is watched by `asyncio.wait`, cancelled at its limit, and abandoned if
it does not end soon after that. Python waits for the threads of an executor before it ends; it
does not wait for daemon threads, so a function that hangs can be abandoned, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from inspect import isawaitable
from math import inf
from queue import SimpleQueue
from threading import Event, Thread
from types import CoroutineType
from typing import Any, ParamSpec, TypeAlias, TypeVar

from msgspec import Struct

from evalcase.util.environment import monotonic
from evalcase.util.errors import to_user_code_error

P = ParamSpec("P")
T = TypeVar("T")
IsGivenUp: TypeAlias = Callable[[], bool]
"""Whether nothing waits for the work any more; the work asks now and then."""
GRACE_S = 2.5
"""How long a call that was cancelled may take to end. Programs are ended within that time."""


class CallOutcome(Struct, frozen=True):
    """What came of a call: a value, unless there is an error or it was late."""

    value: object
    error: BaseException | None
    is_late: bool
    """Whether its limit was over before it ended, whatever it came to then."""
    took_s: float


class QueueTime(Struct):
    """The seconds in which a grader or its questions wait for their turn: no limit counts them."""

    _seconds: float = 0.0
    _waiting: int = 0
    _since: float = 0.0

    def seconds(self) -> float:
        return self._seconds + (monotonic() - self._since if self._waiting else 0.0)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count all that waits in here, also in tasks that are started in here."""
        token = _counting.set((*_counting.get(), self))
        try:
            yield
        finally:
            with suppress(ValueError):  # an abandoned call is closed in another context
                _counting.reset(token)

    def enter(self) -> None:
        if not self._waiting:
            self._since = monotonic()
        self._waiting += 1

    def leave(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._seconds += monotonic() - self._since


_counting: ContextVar[tuple[QueueTime, ...]] = ContextVar("queue_time", default=())


@contextmanager
def waiting_in_queue() -> Iterator[None]:
    """Wait in a queue: every QueueTime that counts here counts it."""
    several = _counting.get()
    for each in several:
        each.enter()
    try:
        yield
    finally:
        for each in several:
            each.leave()


class _Watched(Struct):
    """A call of user code under way."""

    started: float
    limit_s: float
    queue: QueueTime | None = None
    end: asyncio.Future[CallOutcome | None] | None = None
    """What its caller waits for: the outcome, or None once the limit is over."""

    @property
    def deadline(self) -> float:
        waited_s = 0.0 if self.queue is None else self.queue.seconds()
        return self.started + self.limit_s + waited_s


class UserCalls:
    """Calls user code, each call with its limit. It belongs to one event loop."""

    def __init__(self, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._loop = asyncio.get_running_loop()
        self._watched: dict[asyncio.Task[Any], _Watched] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next_look = inf
        """When deadlines are looked at. A timer for each call would take a tenth of a trial."""
        self._left: set[asyncio.Task[Any]] = set()
        """Calls that were cancelled and have not ended yet."""

    async def run(
        self, call: Callable[[], object], limit_s: float, name: str, queue: QueueTime | None = None
    ) -> CallOutcome:
        """Call a function and await what it returns, if that can be awaited. Nothing is raised.

        `name` is the task's name. If this itself is cancelled, so is the call.
        """
        started = monotonic()
        end: asyncio.Future[CallOutcome | None] = asyncio.Future(loop=self._loop)
        task = asyncio.Task(_make_call(call, started, end), loop=self._loop, name=name)
        watched = self._watched[task] = _Watched(started, limit_s, queue, end)
        self._look_by(started + limit_s)
        try:
            outcome = await end
            if outcome is None:
                task.cancel()
                await asyncio.wait((task,), timeout=self._grace_s)
        finally:
            del self._watched[task]
            if not task.done():
                self.leave(task)
        if outcome is None or started + outcome.took_s > watched.deadline:
            return CallOutcome(None, None, True, monotonic() - started)
        return outcome

    def _look_by(self, when: float) -> None:
        """Look for late calls then, or before: one timer does for all of them."""
        if when < self._next_look:
            if self._timer is not None:
                self._timer.cancel()
            self._next_look = when
            self._timer = self._loop.call_later(when - monotonic(), self._end_late_calls)

    def _end_late_calls(self) -> None:
        self._timer, self._next_look = None, inf
        for each in self._watched.values():
            if each.end is None or each.end.done():
                continue
            if (deadline := each.deadline) <= monotonic():
                each.end.set_result(None)
            else:
                self._look_by(deadline)

    @contextmanager
    def attend(self, limit_s: float) -> Iterator[None]:
        """Call user code that is not awaited, in the task of its caller: the watchdog minds it."""
        task = asyncio.current_task()
        assert task is not None
        outer = self._watched.get(task)
        self._watched[task] = _Watched(monotonic(), limit_s)
        try:
            yield
        finally:
            del self._watched[task]
            if outer is not None:
                self._watched[task] = outer

    def leave(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task and go on without it."""
        task.cancel()
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    def is_overdue(self, task: asyncio.Task[Any] | None, since: float) -> bool:
        """Whether a task that has blocked the event loop since some moment is past its limit and
        its grace. For one that is no call of user code, whether all calls are. Any thread may ask.
        """
        watched = self._watched.copy()
        own = watched.get(task) if task is not None else None
        several = watched.values() if own is None else (own,)
        now = monotonic()
        return bool(watched) and all(
            now > max(each.deadline, since) + self._grace_s for each in several
        )

    async def settle(self) -> None:
        """Wait a little for calls that were cancelled: they may use what is closed next."""
        if self._left:
            _, still = await asyncio.wait(self._left.copy(), timeout=self._grace_s)
            for task in still:
                abandon(task)
            self._left -= still

    async def __aenter__(self) -> UserCalls:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.settle()
        if self._timer is not None:
            self._timer.cancel()


async def _make_call(
    call: Callable[[], object], started: float, end: asyncio.Future[CallOutcome | None]
) -> None:
    value, error = None, None
    try:
        value = call()
        if type(value) is CoroutineType or isawaitable(value):
            value = await value
    except BaseException as raised:  # noqa: BLE001 - the boundary: user code may raise anything
        if isinstance(raised, asyncio.CancelledError) and not raised.args:
            why = "the call was cancelled, but not by evalcase"
            raised = RuntimeError(why).with_traceback(raised.__traceback__)
        value, error = None, to_user_code_error(raised)
    if not end.done():  # else its limit was over, or its caller was cancelled
        end.set_result(CallOutcome(value, error, False, monotonic() - started))


_abandoned: set[asyncio.Task[Any]] = set()


def abandon(task: asyncio.Task[Any]) -> None:
    """Hold a task that does not end. To forget it would close its coroutine, which may hang."""
    if not task.done():
        _abandoned.add(task)
        task.add_done_callback(_abandoned.discard)


def has_abandoned() -> bool:
    """Whether tasks are left that did not end when they were cancelled."""
    return bool(_abandoned)


_calls: SimpleQueue[tuple[Callable[[], object], asyncio.Future[object]]] = SimpleQueue()
"""All threads share it: one that is done soon takes the next call without a switch of threads."""
_idle: list[None] = []
"""An entry for each thread that waits for a call, and has none in the queue."""


async def run_in_thread(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """What a function returns, or raises. If this is cancelled, its thread is abandoned."""
    future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    _calls.put((partial(copy_context().run, function, *arguments, **named), future))
    try:
        _idle.pop()
    except IndexError:
        Thread(target=_work, name="evalcase-call", daemon=True).start()
    return await future  # type: ignore[return-value]


async def run_in_background(work: Callable[[IsGivenUp], T]) -> T:
    """The same for work of evalcase that may take seconds. If this is cancelled, it is told."""
    given_up = Event()
    try:
        return await run_in_thread(work, given_up.is_set)
    except BaseException:
        given_up.set()
        raise


def _work() -> None:
    while True:
        function, future = _calls.get()
        value, error = None, None
        try:
            value = function()
        except BaseException as raised:  # noqa: BLE001 - it is raised where the call was made
            # A coroutine can't raise StopIteration, and SystemExit would end the event loop.
            is_plain = isinstance(raised, Exception) and not isinstance(raised, StopIteration)
            error = raised if is_plain else to_user_code_error(raised)
        _idle.append(None)
        with suppress(RuntimeError):  # the loop is closed: nothing waits for the call
            future.get_loop().call_soon_threadsafe(_settle, future, value, error)
        del function, future, value, error


def _settle(future: asyncio.Future[object], value: object, error: BaseException | None) -> None:
    if future.done():  # it was abandoned
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


async def close_all(closes: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """Close several things in order. What one raises is raised once all are closed."""
    async with AsyncExitStack() as stack:
        for close in reversed([*closes]):
            stack.push_async_callback(close)
