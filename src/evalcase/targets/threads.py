"""Threads for functions that block, which a hung function can't use to keep the process alive.

The executors of the standard library wait for their threads at exit. These are daemons, and one
whose call was given up is left alone until it comes back, if ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple


class _Call(NamedTuple):
    function: Callable[..., object]
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    context: Context
    future: asyncio.Future[object]


class DaemonThreads:
    """Runs each call in a thread of its own; threads are used again when they come back.

    All book-keeping happens in the thread of the event loop, so there is nothing to lock.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle: list[SimpleQueue[_Call | None]] = []
        self._closed = False

    async def run(
        self, function: Callable[..., object], *arguments: object, **named: object
    ) -> object:
        """What the function returns, or raises. Cancelling it gives the thread up."""
        future: asyncio.Future[object] = self._loop.create_future()
        inbox = self._idle.pop() if self._idle else self._start()
        inbox.put(_Call(function, arguments, named, copy_context(), future))
        return await future

    def close(self) -> None:
        """Let go of every thread: idle ones now, busy ones when their call is over."""
        self._closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _start(self) -> SimpleQueue[_Call | None]:
        inbox: SimpleQueue[_Call | None] = SimpleQueue()
        Thread(target=self._work, args=(inbox,), name="evalcase-call", daemon=True).start()
        return inbox

    def _work(self, inbox: SimpleQueue[_Call | None]) -> None:
        while (call := inbox.get()) is not None:
            result: object = None
            error: BaseException | None = None
            try:
                result = call.context.run(call.function, *call.arguments, **call.named)
            except BaseException as caught:  # noqa: BLE001 - carried over to whoever awaits it
                error = caught
            try:
                self._loop.call_soon_threadsafe(self._deliver, inbox, call.future, result, error)
            except RuntimeError:
                return  # the loop is closed: nobody waits any more
            del call, result, error

    def _deliver(
        self, inbox: SimpleQueue[_Call | None], future: asyncio.Future[object],
        result: object, error: BaseException | None,
    ) -> None:  # fmt: skip
        if self._closed:
            inbox.put(None)
        else:
            self._idle.append(inbox)
        if future.done():
            return  # it was given up
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(_carried(error))


def _carried(error: BaseException) -> BaseException:
    """A future can't hold StopIteration, and would end the engine with SystemExit."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError(f"{type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped
