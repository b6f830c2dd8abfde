"""An event loop that is shared with code of the user's, run until evalcase's own part is over.

Whatever leaves the loop by a callback or a task of somebody else's (`sys.exit`, `loop.stop`) is
told, and the loop goes on; a loop that is broken itself is an error. At the end nobody is waited
for who had time to end: neither tasks that don't listen nor threads of an executor.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

from evalcase.system import forks
from evalcase.system.clock import keep_time
from evalcase.system.interrupted import InterruptedRunError
from evalcase.system.own_task import OwnTask
from evalcase.system.stubborn import end_tasks

T = TypeVar("T")
OnStray: TypeAlias = Callable[[BaseException], None]
_END_S = 1.0
"""How long what others have left in the loop may take to end."""
_BEAT_S = 1.0
"""How long the loop may wait, at most, without a look at whether it can be woken at all."""
_MOST_TOLD = 10
"""Of how many strays is told, each kind once: a callback may raise in every turn of the loop."""


class LoopBrokenError(Exception):
    """The event loop can't go on: somebody has closed its descriptors, or put something else in
    the place of its methods."""


class LoopStoppedError(Exception):
    """Somebody has called `loop.stop`."""


def run_to_end(main: Coroutine[Any, Any, T], on_stray: OnStray = lambda _: None) -> T:
    """What a coroutine returns, or raises. `on_stray` is told what others raised beside it. Raise
    LoopBrokenError if the loop can't go on.

    Ctrl-C gives it up, and raises KeyboardInterrupt when it has come to its end; a second one at
    once. Who has a handler of his own for it keeps that.
    """
    loop = asyncio.new_event_loop()
    keep_time(loop)
    let_go, is_broken = forks.hold_loop(loop), False
    try:
        asyncio.set_event_loop(loop)
        loop.set_exception_handler(_handle_exception)
        _beat_loop(loop)
        task = OwnTask(main, loop=loop)
        with _make_interruptible(task):
            _run_until_done(loop, task, on_stray)
            return task.result()
    except LoopBrokenError:
        is_broken = True
        raise
    finally:
        _close_loop(loop, is_broken=is_broken)
        let_go()


def describe_stray(error: BaseException) -> str:
    """What others raised, in words for a person."""
    if isinstance(error, LoopStoppedError):
        return "the event loop was stopped by code of a target or a grader; the run goes on"
    return f"{error!r} was raised outside of any trial; the run goes on"


def _handle_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody looked at is logged, but for what was told when it left the loop."""
    if not isinstance(context.get("exception"), SystemExit | KeyboardInterrupt):
        loop.default_exception_handler(context)


def _ignore_exception(_: asyncio.AbstractEventLoop, __: dict[str, Any]) -> None:
    """Nobody wants to know."""


def _beat_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Have the loop turn now and then. One whose descriptors are closed is woken by nothing else,
    and notices only then."""
    loop.call_later(_BEAT_S, _beat_loop, loop)


def _run_until_done(
    loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any], on_stray: OnStray
) -> None:
    strays, before = _Strays(on_stray), forks.count
    task.add_done_callback(lambda _: loop.stop())
    while not task.done():
        try:
            loop.run_forever()
            left: BaseException = LoopStoppedError()
        except Exception as error:
            # Not by a callback: what these raise is kept in the loop.
            forks.end_if_forked(before)
            end_tasks([task])
            raise LoopBrokenError(f"{type(error).__name__}: {error}") from error
        except BaseException as error:  # noqa: BLE001 - it left the loop, whoever raised it
            left = error
        forks.end_if_forked(before)
        if not task.done():
            strays.add(left)


class _Strays:
    """What leaves the loop beside the task that it is run for."""

    def __init__(self, tell: OnStray) -> None:
        self._tell = tell
        self._told: set[str] = set()

    def add(self, error: BaseException) -> None:
        """Tell of it, unless the like was told, and see that its callback is not called again."""
        _cancel_handles(error)
        if isinstance(error, InterruptedRunError):
            return  # the run doesn't go on, and its own task says why
        shown = describe_stray(error)
        if shown not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(shown)
            self._tell(error)


def _cancel_handles(error: BaseException) -> None:
    """A callback for a descriptor is called in every turn for as long as there is something to
    read: several of them that exit would keep all others from their turn."""
    step = error.__traceback__
    while step is not None:
        owner = step.tb_frame.f_locals.get("self")
        if isinstance(owner, asyncio.Handle) and not _is_own(owner):
            owner.cancel()
        step = step.tb_next


def _is_own(handle: asyncio.Handle) -> bool:
    """Whether a callback is evalcase's or asyncio's: Ctrl-C may be pressed in the midst of it."""
    callback = handle._callback  # type: ignore[attr-defined]  # noqa: SLF001 - nothing else tells
    return str(getattr(callback, "__module__", "")).partition(".")[0] in ("asyncio", "evalcase")


@contextmanager
def _make_interruptible(task: OwnTask[Any]) -> Iterator[None]:
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


def _close_loop(loop: asyncio.AbstractEventLoop, *, is_broken: bool) -> None:
    with suppress(BaseException):  # what has come of the task says all there is to say
        # Nothing comes to an end in a loop that is broken, and nobody has to be told of that.
        loop.set_exception_handler(_ignore_exception if is_broken else _handle_exception)
        loop.set_task_factory(None)
        if not is_broken:
            _end_rest(loop)
    asyncio.set_event_loop(None)
    with suppress(BaseException):  # user code may have closed it, or be called by it
        loop.close()


def _end_rest(loop: asyncio.AbstractEventLoop) -> None:
    """Have the tasks and generators of others end; those that take too long end where they are."""
    rest = asyncio.all_tasks(loop)
    for task in rest:
        asyncio.Task.cancel(task)
    rest.add(OwnTask(loop.shutdown_asyncgens(), loop=loop))
    _turn_loop(loop, asyncio.wait(rest, timeout=_END_S))
    still = {task for task in rest | asyncio.all_tasks(loop) if not task.done()}
    if still:
        _turn_loop(loop, _end_tasks(still))


async def _end_tasks(tasks: set[asyncio.Task[Any]]) -> None:
    end_tasks(tasks)
    await asyncio.sleep(0)


def _turn_loop(loop: asyncio.AbstractEventLoop, waiting: Coroutine[Any, Any, object]) -> None:
    task = OwnTask(waiting, loop=loop)
    with suppress(BaseException):  # whatever tasks of the user's raise as they end
        _run_until_done(loop, task, lambda _: None)
        task.result()
