"""Tasks whose first step is made at once: most quick functions are over after it, and then no task
has to be made, scheduled and waited for.

Python 3.12 has such tasks. Before, a spare task lends its identity for the first step, by the calls
that asyncio has for implementations of tasks, and takes over whatever is not done by then.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import _enter_task, _leave_task
from collections.abc import Coroutine
from contextvars import Context, copy_context
from typing import Any, TypeAlias

_Code: TypeAlias = Coroutine[Any, None, None]


class _Lent(asyncio.Task[None]):
    """A task that is spare until it is cancelled, or has something to do."""

    is_spare = True

    def cancel(self, msg: Any = None) -> bool:  # noqa: ANN401 - as asyncio has it
        self.is_spare = False
        return super().cancel(msg)


class _Shell(Coroutine[Any, None, None]):
    """What a spare task runs: nothing, until it is given code that has made its first step."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._code: _Code | None = None
        self._context: Context | None = None
        self._first: object = None
        """What the code waits for after its first step."""
        self._is_new = False
        """Whether that was not told yet."""
        self._parked: asyncio.Future[None] | None = None
        self.task = _Lent(self, loop=loop, name="spare")

    def make_first_step(self, code: _Code, name: str) -> bool:
        """Make the first step of a coroutine, as if the task did. Return whether it is over."""
        self.task.set_name(name)
        context = copy_context()
        current = asyncio.current_task(self._loop)
        if current is not None:  # else this is a callback of the loop
            _leave_task(self._loop, current)
        _enter_task(self._loop, self.task)
        try:
            self._first = context.run(code.send, None)
        except StopIteration:
            return True
        finally:
            _leave_task(self._loop, self.task)
            if current is not None:
                _enter_task(self._loop, current)
        self.task.is_spare = False
        self._code, self._context, self._is_new = code, context, True
        if self._parked is not None and not self._parked.done():
            self._parked.set_result(None)
        return False

    @property
    def cr_await(self) -> _Code | None:
        """What it runs, as coroutines of Python's own say it."""
        return self._code

    def send(self, value: None) -> object:
        if self._context is None or self._code is None:
            self._parked = self._loop.create_future()
            return next(self._parked.__await__())
        if self._is_new:
            self._is_new = False
            return self._first
        return self._context.run(self._code.send, value)

    def throw(self, error: Any, *_: object) -> object:  # noqa: ANN401 - as asyncio calls it
        if self._context is None or self._code is None:
            raise error
        self._is_new = False
        return self._context.run(self._code.throw, error)

    def close(self) -> None:
        if self._code is not None:
            self._code.close()

    def __await__(self) -> Any:  # noqa: ANN401 - nobody does
        raise NotImplementedError


class Starter:
    """Starts tasks in one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._spares: list[_Shell] = []
        """More than one where a first step started another task."""

    if sys.version_info >= (3, 12):

        def start(self, code: _Code, name: str) -> asyncio.Task[None] | None:
            """Make the first step of a coroutine; the task that makes the others, if any."""
            task = asyncio.Task(code, loop=self._loop, name=name, eager_start=True)
            return None if task.done() else task
    else:

        def start(self, code: _Code, name: str) -> asyncio.Task[None] | None:
            """Make the first step of a coroutine; the task that makes the others, if any."""
            shell = self._take_spare()
            if not shell.make_first_step(code, name):
                return shell.task
            self._spares.append(shell)
            return None

    def close(self) -> None:
        """Let go of what is spare."""
        for shell in self._spares:
            shell.task.cancel()

    def _take_spare(self) -> _Shell:
        while self._spares:
            shell = self._spares.pop()
            if shell.task.is_spare:
                return shell
        return _Shell(self._loop)
