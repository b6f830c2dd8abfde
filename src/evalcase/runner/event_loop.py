"""The event loop that a run shares with user code, and the watchdog for code that blocks it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

from evalcase.util.environment import PACKAGE, monotonic
from evalcase.util.user_calls import abandon

T = TypeVar("T")
_log = logging.getLogger("evalcase")
IsOverdue: TypeAlias = Callable[[asyncio.Task[Any] | None, float], bool]
_END_S = 1.0
"""How long tasks and generators that user code left behind may take to end."""
_PERIOD_S = 0.25
_LONG_S = 1.0
"""Code that blocks the loop for so long is named."""
_OWN = PACKAGE + os.sep
_PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = ("site-packages", "dist-packages")


class LoopEndedError(RuntimeError):
    """User code stopped the event loop."""


class _Loop(asyncio.SelectorEventLoop):
    def time(self) -> float:
        return monotonic()  # a frozen date must freeze no limit


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, or raises. Ctrl-C cancels it; a handler that is set already stays.

    `asyncio.run` would wait at its end for every task and thread of user code; this waits a second.
    """
    runner = asyncio.Runner(loop_factory=_Loop)
    loop, started, returned = runner.get_loop(), list[asyncio.Task[Any]](), list[T]()

    async def run() -> None:
        started.extend(filter(None, [asyncio.current_task()]))
        # Not as the result of the task: Python would show that in an error that it swallows.
        returned.append(await main)

    try:
        runner.run(run())
    except SystemExit as error:
        (task,) = started
        while not task.done():
            # A task or a callback of user code exits in the background. The run goes on.
            _log.warning("%r was raised by user code outside of any trial", error)
            with suppress(SystemExit):
                loop.run_until_complete(task)
        task.result()  # it may raise
    except RuntimeError as error:
        if not started or started[0].done():
            raise
        raise LoopEndedError("the event loop was stopped by user code") from error
    finally:
        _close(loop)
    return returned[0]


def _close(loop: asyncio.AbstractEventLoop) -> None:
    with suppress(BaseException):  # what came of the coroutine is known: this can't change it
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(_wait_for_rest(loop))
    for task in asyncio.all_tasks(loop):
        abandon(task)
    asyncio.set_event_loop(None)
    with suppress(BaseException):
        loop.close()


async def _wait_for_rest(loop: asyncio.AbstractEventLoop) -> None:
    rest = asyncio.all_tasks(loop) - {asyncio.current_task()}
    rest.add(loop.create_task(loop.shutdown_asyncgens()))
    await asyncio.wait(rest, timeout=_END_S)


class BlockingCall(NamedTuple):
    """The function that the event loop waits for, and the case it was called for."""

    function: str
    place: str
    case: str

    def __str__(self) -> str:
        return f"{self.case}: `{self.function}` ({self.place})"


class LoopWatch:
    """Names the user code that blocks the event loop, and reports code that blocks it beyond its
    time limit. A thread asks the loop for a sign of life now and then."""

    def __init__(
        self,
        warn: Callable[[str], None],
        is_overdue: IsOverdue = lambda _task, _since: False,
        on_overdue: Callable[[BlockingCall], None] = lambda _: None,
        period_s: float = _PERIOD_S,
        long_s: float = _LONG_S,
    ) -> None:
        """`is_overdue` says of the task that runs, and since when it has, whether its limit is
        over; `on_overdue` is called then, in the thread of the watchdog, because nothing in Python
        can end that task."""
        self._warn = warn
        self._is_overdue = is_overdue
        self._on_overdue = on_overdue
        self._period_s = period_s
        # The loop may have been blocked for a period already when it is asked for a sign.
        self._silence_s = max(long_s - period_s, period_s)
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._over = threading.Event()
        self._warned: set[str] = set()
        self._unsaid: list[str] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, name="evalcase-watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._say()

    def find_blocking_call(self) -> BlockingCall | None:
        """What the thread of the loop does, if that is user code."""
        frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001 - there is no other way
        called = _called_by_evalcase(frame)
        if called is None:
            return None
        task = asyncio.current_task(self._loop)
        place = f"{called.f_code.co_filename}:{called.f_lineno}"
        case = "" if task is None else task.get_name()
        return BlockingCall(called.f_code.co_qualname, place, case)

    def _watch(self) -> None:
        while not self._over.wait(self._period_s):
            asked_at, sign = monotonic(), threading.Event()
            if not self._post(sign.set):
                return
            if sign.wait(self._silence_s):
                continue
            call, is_reported = self.find_blocking_call(), False
            task, since = asyncio.current_task(self._loop), monotonic()
            while not sign.wait(self._period_s):
                if self._over.is_set() or self._loop.is_closed():
                    return
                if task is not (now_running := asyncio.current_task(self._loop)):
                    task, since = now_running, monotonic()  # several block, one after the other
                if not is_reported and self._is_overdue(task, since):
                    overdue = self.find_blocking_call()
                    if overdue is not None:
                        is_reported = True
                        self._on_overdue(overdue)
            if call is not None and call.function not in self._warned:
                self._warned.add(call.function)
                self._unsaid.append(_describe_blocking(call, monotonic() - asked_at))
                self._post(self._say)

    def _say(self) -> None:
        while self._unsaid:
            self._warn(self._unsaid.pop())

    def _post(self, action: Callable[[], None]) -> bool:
        """Have the loop do something; False if it is closed."""
        try:
            self._loop.call_soon_threadsafe(action)
        except RuntimeError:
            return False
        return True


def _describe_blocking(call: BlockingCall, took_s: float) -> str:
    return (
        f"{call} blocked the event loop for at least {took_s:.1f} s, so that concurrency suffers; "
        "await what takes long, or write a plain function, which runs in a thread"
    )


def _called_by_evalcase(frame: FrameType | None) -> FrameType | None:
    """The outermost frame of what evalcase has called; None if it is busy itself, or absent."""
    called: FrameType | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_OWN):
            return called
        rest = file.removeprefix(_PYTHON)
        if rest == file or rest.startswith(_INSTALLED):  # not of the standard library
            called = frame
        frame = frame.f_back
    return None
