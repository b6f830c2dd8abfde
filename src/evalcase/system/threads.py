"""Threads for plain functions of the user, which may be slow, may block, and may never return.

They are not an executor's: those are waited for when Python ends, so that one call that hangs
would keep the command from ending. These are daemons, and one whose call was given up is left
alone until it comes back, if ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context, copy_context
from inspect import isawaitable
from queue import SimpleQueue
from threading import Lock, Thread
from types import NoneType
from typing import Any, Generic, TypeVar, cast

from evalcase.system import forks
from evalcase.system.clock import perf_counter
from evalcase.text.crash import tell_error

T_co = TypeVar("T_co", covariant=True)

_QUICK_S = 0.0002
"""How long a call may take that the loop is to stand still for."""
_HOLD_S = 0.005
"""How long the event loop stands still, at most, for calls that should be over at once. A time
so short that the system's clock has to be set for it costs more than it saves."""
_MOST_DOUBT = 255
_PLAIN = (str, bool, float, int, NoneType)
"""What needs no look to know that it is not awaited."""


class PlainCall(Generic[T_co]):
    """A call of a plain function in a thread, and what comes of it. It is begun when it is awaited.

    Guests begin it themselves: code in a thread can't harm the task that waits for it, so that it
    needs none of its own.
    """

    __slots__ = (
        "arguments", "check", "context", "error", "function", "future", "is_read", "named", "read",
        "tells", "threads", "took_s", "value",
    )  # fmt: skip

    def __init__(
        self, threads: Threads, read: Callable[[Any], T_co], function: Callable[..., object],
        arguments: tuple[object, ...], named: dict[str, object],
    ) -> None:  # fmt: skip
        self.threads = threads
        self.read = read
        """Is given what was returned, in that thread: to look at it is to call the user's code."""
        self.check: Callable[[object], object] | None = None
        """The same for what is read then."""
        self.tells = False
        """Whether an error is told there, too, and what was told takes its place."""
        self.is_read = False
        self.function = function
        self.arguments = arguments
        self.named = named
        self.context: Context
        self.future: asyncio.Future[None]
        self.value: object = None
        self.error: BaseException | None = None
        self.took_s = 0.0

    def begin(self) -> asyncio.Future[None]:
        """Have it made. The future is done when the call is over, or given up if that is done."""
        loop = asyncio.get_running_loop()
        self.context, self.future = copy_context(), loop.create_future()
        self.threads.take(self, loop)
        return self.future

    def run(self) -> None:
        before, started = forks.count, perf_counter()
        try:
            value = self.context.run(self.function, *self.arguments, **self.named)
            if type(value) not in _PLAIN and isawaitable(value):
                self.value = value
            else:
                value = self.read(value)
                self.value = value if self.check is None else self.check(value)
                self.is_read = True
        except BaseException as error:  # noqa: BLE001 - it is raised again where the call was made
            error = _wrap_error(error)
            self.error = tell_error(error) if self.tells else error
        forks.end_if_forked(before)
        self.took_s = perf_counter() - started

    def settle(self) -> None:
        """Let who waits for it go on, in the thread of the event loop."""
        if not self.future.done():  # else it was given up
            self.future.set_result(None)

    def rest(self) -> Coroutine[Any, Any, T_co] | None:
        """What is to be awaited once the function has returned; None where it is over, as it is
        unless an awaitable was returned."""
        if self.is_read or self.error is not None:
            return None
        return _await_all(cast("Awaitable[object]", self.value), self.read)

    def __await__(self) -> Generator[Any, None, T_co]:
        try:
            yield from self.begin()
            if self.error is not None:
                raise self.error
            rest = self.rest()
            if rest is not None:
                return (yield from rest.__await__())
            return cast("T_co", self.value)
        finally:
            del self  # an exception has this frame in its traceback: neither would be freed


async def _await_all(first: Awaitable[object], read: Callable[[Any], T_co]) -> T_co:
    value = await first
    while isawaitable(value):
        value = await value
    return read(value)


class _Batch:
    """Calls that one thread makes one after the other, while the loop stands still for them."""

    __slots__ = ("calls", "done", "is_left", "lock", "over")

    def __init__(self, calls: list[PlainCall[Any]]) -> None:
        self.calls = calls
        self.done = 0
        """How many calls, from the first, have come to their end."""
        self.is_left = False
        """Whether the loop goes on by itself, and has to be woken."""
        self.lock = Lock()
        self.over = Lock()
        """Held until all calls are done."""
        self.over.acquire()

    def leave(self) -> list[PlainCall[Any]]:
        """Wait no longer. What was not begun is for somebody else, and returned here."""
        with self.lock:
            if self.done == len(self.calls):
                return []
            self.is_left = True
            begun = self.done + 1
            rest = self.calls[begun:]
            del self.calls[begun:]
            return rest


_Inbox = SimpleQueue[_Batch | None]


class Threads:
    """Runs calls in threads, at once; threads are used again when they come back.

    To wake a thread, and then the event loop, costs several times the work of a usual grader. So
    the calls of one turn of the loop go to one thread together, and the loop stands still until
    they are over. If that takes too long, those that were not begun get threads of their own, and
    all of them are waited for like anything else; and the more often calls are slow, the more quick
    ones it takes until the loop trusts in them again.
    """

    def __init__(self, name: str) -> None:
        """`name` is that of each thread, for who looks at a process from outside."""
        self._name = name
        self._gathered: dict[asyncio.AbstractEventLoop, list[PlainCall[Any]]] = {}
        """The calls of this turn of each loop: there may be several, in threads of their own."""
        self._idle: list[_Inbox] = []
        self._closed = False
        self._doubt = 1
        """How many quick calls are asked for once one was slow."""
        self._doubted = 0
        """How many of them are still to come."""

    async def call(self, function: Callable[..., object], *arguments: object) -> object:
        """What the function returns, or raises. If this is cancelled, its thread is given up."""
        return await self.plan(lambda value: value, function, *arguments)

    def plan(
        self, read: Callable[[Any], T_co], function: Callable[..., object], /,
        *arguments: object, **named: object,
    ) -> PlainCall[T_co]:  # fmt: skip
        """A call of the user's, begun by whoever awaits it. `read` makes something of what the
        function returns, in its thread; an awaitable is awaited before."""
        return PlainCall(self, read, function, arguments, named)

    def take(self, call: PlainCall[Any], loop: asyncio.AbstractEventLoop) -> None:
        """Make a call: together with others of this turn of the loop, or at once in a thread of
        its own while calls are slow."""
        if self._doubted:
            self._send([call], hold=False)
            return
        known = self._gathered.get(loop)
        if known is None:
            self._gathered[loop] = [call]
            loop.call_soon(self._send_gathered, loop)
        else:
            known.append(call)

    def close(self) -> None:
        """Let go of every thread: idle ones now, busy ones when their call is over."""
        self._closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _send_gathered(self, loop: asyncio.AbstractEventLoop) -> None:
        calls = self._gathered.pop(loop)
        left = [call for call in calls if not call.future.done()]
        if left:
            self._send(left, hold=not self._doubted)

    def _send(self, calls: list[PlainCall[Any]], *, hold: bool) -> None:
        batch = _Batch(calls)
        batch.is_left = not hold
        rest: list[PlainCall[Any]] = []
        if not hold:
            rest = calls[1:]
            del calls[1:]
        inbox = self._take()
        inbox.put(batch)
        if hold:
            if not batch.over.acquire(timeout=_HOLD_S):
                rest = batch.leave()
            self._look_at(batch, inbox)
        for call in rest:
            self._send([call], hold=False)

    def _look_at(self, batch: _Batch, inbox: _Inbox) -> None:
        """Settle what is over of a batch, and learn from it."""
        done = batch.calls[: batch.done]
        if not batch.is_left:
            self._release(inbox)
        slow = batch.is_left or any(call.took_s > _QUICK_S for call in done)
        if slow:
            self._doubt = self._doubted = min(2 * self._doubt, _MOST_DOUBT)
        elif self._doubt > 1:
            self._doubt -= 1
        for call in done:
            call.settle()

    def _take(self) -> _Inbox:
        try:
            return self._idle.pop()
        except IndexError:  # also if another loop was faster
            return self._new()

    def _new(self) -> _Inbox:
        inbox: _Inbox = SimpleQueue()
        Thread(target=self._work, args=(inbox,), name=self._name, daemon=True).start()
        return inbox

    def _work(self, inbox: _Inbox) -> None:
        while (batch := inbox.get()) is not None:
            for call in batch.calls:
                call.run()
                with batch.lock:
                    batch.done += 1
                    late = batch.is_left
                if late and not self._wake(call, inbox):
                    return  # the loop is closed: nobody waits any more
            if not batch.is_left:
                batch.over.release()
            del batch, call

    def _wake(self, call: PlainCall[Any], inbox: _Inbox) -> bool:
        """Tell the loop of a call that it did not stand still for; False if it is closed."""
        try:
            call.future.get_loop().call_soon_threadsafe(self._settle_late, call, inbox)
        except RuntimeError:
            return False
        return True

    def _settle_late(self, call: PlainCall[Any], inbox: _Inbox) -> None:
        self._release(inbox)
        if call.took_s > _QUICK_S:
            self._doubted = self._doubt
        elif self._doubted:
            self._doubted -= 1
        call.settle()

    def _release(self, inbox: _Inbox) -> None:
        if self._closed:
            inbox.put(None)
        else:
            self._idle.append(inbox)


def _wrap_error(error: BaseException) -> BaseException:
    """A coroutine can't raise StopIteration, and SystemExit would end the engine."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    kind = type(error)
    # Nobody is told of an error that was never raised: what stands in for it has its name.
    name, within = kind.__name__, {"__module__": kind.__module__}
    stand_in: type[RuntimeError] = type(name, (RuntimeError,), within)
    return stand_in(*error.args).with_traceback(error.__traceback__)
