"""An event loop that is shared with code of the user's, run until evalcase's own part is over.

Whatever leaves the loop by a callback or a task of somebody else's (`sys.exit`, `loop.stop`) is
told, and the loop goes on. At the end nobody is waited for who had time to end: neither tasks that
don't listen nor threads of an executor.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from evalcase.system.guests import end_tasks
from evalcase.system.own_task import OwnTask

T = TypeVar("T")
_END_S = 1.0
"""How long what others have left in the loop may take to end."""


def run_to_end(
    main: Coroutine[Any, Any, T], on_stray: Callable[[BaseException], None] = lambda _: None
) -> T:
    """What a coroutine returns, or raises. `on_stray` is told what others raised beside it.

    Ctrl-C gives it up, and raises KeyboardInterrupt when it has come to its end; a second one at
    once. Who has a handler of his own for it keeps that.
    """
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        loop.set_exception_handler(_handle)
        task = OwnTask(main, loop=loop)
        with _interruptible(task):
            _run_until_done(loop, task, on_stray)
            return task.result()
    finally:
        _close(loop)


def describe_stray(error: BaseException) -> str:
    """What others raised, in words for a person."""
    if isinstance(error, RuntimeError):
        return "the event loop was stopped by code of a target or a grader; the run goes on"
    return f"{error!r} was raised outside of any trial; the run goes on"


def _handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody looked at is logged, but for what was told when it left the loop."""
    if not isinstance(context.get("exception"), SystemExit | KeyboardInterrupt):
        loop.default_exception_handler(context)


def _run_until_done(
    loop: asyncio.AbstractEventLoop,
    task: asyncio.Task[Any],
    on_stray: Callable[[BaseException], None],
) -> None:
    while not task.done():
        try:
            loop.run_until_complete(task)
        except BaseException as error:  # noqa: BLE001 - it left the loop, whoever raised it
            if not task.done():
                on_stray(error)


@contextmanager
def _interruptible(task: OwnTask[Any]) -> Iterator[None]:
    """Have Ctrl-C end a task, where that is not somebody else's to decide."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not is_ours:
        yield
        return
    presses: list[None] = []

    def interrupt(*_: object) -> None:
        presses.append(None)
        if len(presses) > 1 or task.done():
            raise KeyboardInterrupt
        task.get_loop().call_soon_threadsafe(task.give_up)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except asyncio.CancelledError:
        if presses:
            raise KeyboardInterrupt from None
        raise
    finally:
        if signal.getsignal(signal.SIGINT) is interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    loop.set_exception_handler(_handle)  # it may be another's by now
    try:
        _end_rest(loop)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _end_rest(loop: asyncio.AbstractEventLoop) -> None:
    """Have the tasks and generators of others end; those that take too long end where they are."""
    rest = asyncio.all_tasks(loop)
    for task in rest:
        asyncio.Task.cancel(task)
    rest.add(loop.create_task(loop.shutdown_asyncgens()))
    _turn(loop, asyncio.wait(rest, timeout=_END_S))
    still = {task for task in asyncio.all_tasks(loop) if not task.done()}
    if still:
        end_tasks(still)
        _turn(loop, asyncio.sleep(0))


def _turn(loop: asyncio.AbstractEventLoop, waiting: Coroutine[Any, Any, object]) -> None:
    task = OwnTask(waiting, loop=loop)
    with suppress(BaseException):
        _run_until_done(loop, task, lambda _: None)
        task.result()
