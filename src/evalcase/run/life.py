"""The life of a target: set up, waited for, torn down, all in one task of its own.

What is entered in a task has to be left in the same, or so many libraries want it. And as it is
code of the user's, nobody awaits it directly: it may never come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from contextvars import Context
from inspect import isawaitable

from evalcase.errors import TargetError
from evalcase.model.target import Target
from evalcase.system import forks
from evalcase.system.guests import Guests


class TooSlowError(Exception):
    """Tear-down was not over when its time was."""


class Life:
    """One target, from `open` to `close`."""

    def __init__(self, target: Target, guests: Guests, context: Context) -> None:
        """`context` is that of its code: what is set there when it opens is seen by whoever
        answers."""
        self._target = target
        self._guests = guests
        self._context = context
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[BaseException | None] | None = None
        self._closed: asyncio.Future[BaseException | None] | None = None

    async def open(self) -> BaseException | None:
        """Set it up. What it raised is returned; it has to be closed all the same."""
        loop = asyncio.get_running_loop()
        self._opened, self._closed = loop.create_future(), loop.create_future()
        self._task = asyncio.Task(self._live(), loop=loop, context=self._context)
        try:
            return await self._opened
        except asyncio.CancelledError:
            self._task.cancel()
            raise

    async def close(self, limit_s: float) -> BaseException | None:
        """Tear it down. What it raised is returned; TooSlowError if it took longer."""
        if self._task is None or self._closed is None:
            return None
        self._over.set()
        stay = await self._guests.run(_wait_for_close(self._closed), limit_s, "close")
        if stay.is_late:
            self._guests.give_up(self._task)
            return TooSlowError(f"took more than {limit_s:g} s and was given up")
        return stay.error or self._closed.result()

    async def _live(self) -> None:
        assert self._opened is not None
        assert self._closed is not None
        error: BaseException | None = None
        before = forks.count
        try:
            await _check_awaitable(self._target.open(), "open")
        except BaseException as caught:  # noqa: BLE001 - the boundary: set-up may raise anything
            error = caught
        forks.end_if_forked(before)
        if not self._opened.done():
            self._opened.set_result(error)
        error = None
        while not self._over.is_set():
            # Some code of the user's cancels whatever there is.
            with suppress(asyncio.CancelledError):
                await self._over.wait()
        try:
            await _check_awaitable(self._target.close(), "close")
        except BaseException as caught:  # noqa: BLE001 - the boundary: so may tear-down
            error = caught
        forks.end_if_forked(before)
        if not self._closed.done():
            self._closed.set_result(error)
        del error  # its traceback has this frame: neither would be freed


async def _wait_for_close(closed: asyncio.Future[BaseException | None]) -> None:
    await asyncio.wait([closed])


def _check_awaitable(given: object, method: str) -> Awaitable[object]:
    """The same. Raise TargetError where a method that has to be async is a plain one."""
    if isawaitable(given):
        return given
    what = f"the method `{method}` of a Target must be async (`async def {method}`)"
    raise TargetError(what, kind="protocol")
