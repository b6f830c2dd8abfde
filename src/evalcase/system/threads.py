"""Threads for plain functions of the user, which may be slow, may block, and may never return.

They are not an executor's: those are waited for when Python ends, so that one call that hangs
would keep the command from ending. These are daemons, and one whose call was given up is left
alone until it comes back, if ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from threading import Lock, Thread
from time import perf_counter

_QUICK_S = 0.0002
"""How long a call may take that the loop is to stand still for."""
_HOLD_S = 0.005
"""How long the event loop stands still, at most, for a call that should be over at once. A time
so short that the system's clock has to be set for it costs more than it saves."""
_MOST_DOUBT = 255


class Call:
    """A call, and what comes of it."""

    __slots__ = (
        "arguments", "context", "end", "error", "function", "future", "is_over", "is_settled",
        "took_s", "value",
    )  # fmt: skip

    def __init__(
        self,
        function: Callable[..., object],
        arguments: tuple[object, ...],
        future: asyncio.Future[None],
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.context = copy_context()
        self.value: object = None
        self.error: BaseException | None = None
        self.took_s = 0.0
        self.future = future
        self.is_over = False
        """Whether the loop need not wait for it."""
        self.end = Lock()
        """Held until it comes to it, so that the loop can stand still for so long."""
        self.end.acquire()
        self.is_settled = Lock()
        """Taken by the thread when it is done, or by the loop when it wants to be woken instead:
        whoever comes second knows what the other did."""

    def run(self) -> None:
        started = perf_counter()
        try:
            self.value = self.context.run(self.function, *self.arguments)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the call was made
            self.error = error
        self.took_s = perf_counter() - started

    def outcome(self) -> object:
        if self.error is not None:
            raise _carried(self.error)
        return self.value


_Inbox = SimpleQueue[Call | None]


class Threads:
    """Runs each call in a thread of its own, at once; threads are used again when they come back.

    To wake an event loop costs several times the work of a usual grader. So the loop stands
    still until the call is over. If that takes too long, it is waited for like anything else; and
    the more often calls are slow, the more quick ones it takes until the loop trusts in one again.
    """

    def __init__(self, name: str) -> None:
        """`name` is that of each thread, for who looks at a process from outside."""
        self._name = name
        self._idle: list[_Inbox] = []
        self._closed = False
        self._doubt = 1
        """How many quick calls are asked for once one was slow."""
        self._doubted = 0
        """How many of them are still to come."""

    async def call(self, function: Callable[..., object], *arguments: object) -> object:
        """What the function returns, or raises. If this is cancelled, its thread is given up."""
        return await self.wait_for(self.start(function, *arguments))

    def start(self, function: Callable[..., object], *arguments: object) -> Call:
        """Begin a call, which may be over already."""
        call = Call(function, arguments, asyncio.get_running_loop().create_future())
        inbox = self._idle.pop() if self._idle else self._new()
        call.is_over = self._is_over_soon(call, inbox)
        if call.is_over:
            self._release(inbox)
        return call

    async def wait_for(self, call: Call) -> object:
        """The same as `call` gives, of a call that was begun."""
        try:
            if not call.is_over:
                await call.future
                self._judge(call.took_s)
            return call.outcome()
        finally:
            del call  # an exception has this frame in its traceback: neither would be freed

    def close(self) -> None:
        """Let go of every thread: idle ones now, busy ones when their call is over."""
        self._closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _is_over_soon(self, call: Call, inbox: _Inbox) -> bool:
        """Begin a call; False if its future has to be waited for."""
        if self._doubted:
            call.is_settled.acquire()
            inbox.put(call)
            return False
        inbox.put(call)
        over = call.end.acquire(timeout=_HOLD_S) or not call.is_settled.acquire(blocking=False)
        if not over or call.took_s > _QUICK_S:
            self._doubt = self._doubted = min(2 * self._doubt, _MOST_DOUBT)
        elif self._doubt > 1:
            self._doubt -= 1
        return over

    def _judge(self, took_s: float) -> None:
        """Learn from a call that the loop did not stand still for."""
        if took_s > _QUICK_S:
            self._doubted = self._doubt
        elif self._doubted:
            self._doubted -= 1

    def _new(self) -> _Inbox:
        inbox: _Inbox = SimpleQueue()
        Thread(target=self._work, args=(inbox,), name=self._name, daemon=True).start()
        return inbox

    def _work(self, inbox: _Inbox) -> None:
        while (call := inbox.get()) is not None:
            call.run()
            if call.is_settled.acquire(blocking=False):
                call.end.release()
            else:
                try:
                    call.future.get_loop().call_soon_threadsafe(self._wake, call.future, inbox)
                except RuntimeError:
                    return  # the loop is closed: nobody waits any more
            del call

    def _wake(self, future: asyncio.Future[None], inbox: _Inbox) -> None:
        self._release(inbox)
        if not future.done():  # else it was given up
            future.set_result(None)

    def _release(self, inbox: _Inbox) -> None:
        if self._closed:
            inbox.put(None)
        else:
            self._idle.append(inbox)


def _carried(error: BaseException) -> BaseException:
    """A coroutine can't raise StopIteration, and SystemExit would end the engine."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError(f"{type(error).__name__}: {error}")
    return wrapped.with_traceback(error.__traceback__)
