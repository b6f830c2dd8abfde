"""Awaited code of the user's: each call a guest in a task of its own, watched from outside.

It may raise anything, cancel itself or everybody, swallow its cancellation, and never return. So
nobody awaits it directly. At its limit it is told to leave; if it stays longer than it may, it is
given up: whoever waits for it goes on, and it is ended with the run. Calls in threads can do less:
they need no task, and are given up at their limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias, TypeVar

from evalcase.system import forks
from evalcase.system.clock import monotonic, perf_counter
from evalcase.system.eager import Starter
from evalcase.system.guest import Guest, Stay
from evalcase.system.queue_time import QueueTime
from evalcase.system.stubborn import end_tasks
from evalcase.system.threads import PlainCall
from evalcase.system.timer import Timer

T = TypeVar("T")
Check: TypeAlias = Callable[[object], object]

GRACE_S = 2.5
"""How long a guest may take to leave. Programs are ended within that time."""


def _as_it_is(value: object) -> object:
    return value


class Guests:
    """Runs calls that are awaited, each by its own limit. It belongs to one event loop."""

    def __init__(self, grace_s: float = GRACE_S) -> None:
        self.timer = Timer()
        self.grace_s = grace_s
        self.forks = forks.count
        self._loop = asyncio.get_running_loop()
        self._starter = Starter()
        self._beginning: Guest | None = None
        """The one that makes its first step just now."""
        self._leaving: set[asyncio.Task[None]] = set()
        """Those that were told to leave by who waited for them."""
        self._given_up: set[asyncio.Task[None]] = set()
        """Those that had their time to leave."""

    async def run(
        self, awaitable: Awaitable[object], limit_s: float, name: str, check: Check = _as_it_is
    ) -> Stay:
        """What comes of it; `name` is for who looks at the tasks of a process. Nothing is raised,
        unless this itself is cancelled: then the guest is told to leave. `check` makes something of
        what it gives, in its own time: who looks at it later may call code of the user's."""
        guest = self._receive(awaitable, limit_s, name, check)
        if guest.stay is None:
            await self._wait((guest,), name)
        return guest.take_stay()

    def call(
        self, function: Callable[[T], Awaitable[object]], argument: T, limit_s: float, name: str,
        check: Check = _as_it_is,
    ) -> Stay | Awaitable[Stay]:  # fmt: skip
        """The same for what a function gives to be awaited; at once, if it need not be."""
        guest = Guest(self, perf_counter(), limit_s, None, check)
        self._begin(guest, guest.live_by(function, argument), name)
        return guest.take_stay() if guest.stay is not None else self._stay_of(guest, name)

    @contextmanager
    def attend(self, limit_s: float) -> Iterator[None]:
        """Call code of the user's that is not awaited: it is ended like a guest that blocks."""
        outer = self._beginning
        self._beginning = Guest(self, perf_counter(), limit_s, None, _as_it_is)
        try:
            yield
        finally:
            self._beginning = outer

    async def _stay_of(self, guest: Guest, name: str) -> Stay:
        await self._wait((guest,), name)
        return guest.take_stay()

    async def run_all(
        self, calls: Iterable[tuple[Awaitable[object], float, QueueTime | None]], name: str,
        check: Check = _as_it_is,
    ) -> list[Stay]:  # fmt: skip
        """The same for several at once, each with its limit, in their order. What one of them
        spends in a queue doesn't count, where that is measured."""
        guests = [
            self._receive(each, limit_s, name, check, queue) for each, limit_s, queue in calls
        ]
        if len(guests) > 1:
            for guest in guests:
                if guest.call is not None and guest.waiter is not None:
                    # What it may have left to wait for begins at once, however long others take.
                    guest.waiter.add_done_callback(partial(self._go_on, guest, name))
        await self._wait(guests, name)
        return [guest.take_stay() for guest in guests]

    def _receive(
        self, awaitable: Awaitable[object], limit_s: float, name: str, check: Check,
        queue: QueueTime | None = None,
    ) -> Guest:  # fmt: skip
        guest = Guest(self, perf_counter(), limit_s, queue, check)
        if isinstance(awaitable, PlainCall):
            awaitable.check, awaitable.tells = check, True
            self.timer.add(guest, limit_s)  # before it is begun, which may be at once
            guest.call, guest.waiter = awaitable, awaitable.begin()
        else:
            self._begin(guest, guest.live(awaitable), name)
        return guest

    def _begin(self, guest: Guest, life: Coroutine[Any, None, None], name: str) -> None:
        self._start(guest, life, name)
        if guest.task is not None:
            guest.waiter = self._loop.create_future()
            self.timer.add(guest, guest.limit_s)

    def _start(self, guest: Guest, life: Coroutine[Any, None, None], name: str) -> None:
        """Let it make its first step, and a task of what is left then."""
        outer, self._beginning = self._beginning, guest
        guest.task = self._starter.start(life, name)
        self._beginning = outer
        forks.end_if_forked(self.forks)

    async def _wait(self, guests: Sequence[Guest], name: str) -> None:
        try:
            for guest in guests:
                if guest.waiter is None:
                    continue
                await guest.waiter
                if guest.call is not None:
                    self._go_on(guest, name)
                if guest.stay is None and guest.task is not None:
                    await guest.waiter  # a call was over, and the rest of it is not
        finally:
            # All of them have left; or this was cancelled, and they are told.
            for guest in guests:
                self._part_with(guest)

    def _go_on(self, guest: Guest, name: str, _: object = None) -> None:
        """Where a call that is over has left something to wait for: that needs a task, and has what
        is left of the limit."""
        call, waiter = guest.call, guest.waiter
        if call is None or waiter is None or waiter.cancelled() or guest.is_told:
            return
        rest = call.rest()
        if rest is not None:
            guest.call, guest.waiter = None, self._loop.create_future()
            self._start(guest, guest.live(rest), name)
            if guest.task is not None and guest.when <= monotonic():
                guest.ring()  # it did just before

    def _part_with(self, guest: Guest) -> None:
        if guest.waiter is not None:
            is_leaving = guest.is_told and guest.task is not None
            self.timer.remove(guest, self.grace_s if is_leaving else guest.limit_s)
        if guest.extension is not None:
            guest.extension.cancel()
        if guest.stay is None and guest.task is not None:
            _tell_task(guest.task, self._leaving)
        elif guest.call is not None and guest.waiter is not None:
            guest.waiter.cancel()  # it is not made, if it was not begun

    def is_overdue(self, task: asyncio.Task[Any] | None) -> bool:
        """Whether a task that keeps the loop from everybody has had its time, and that to leave;
        for one that is no guest, whether all guests have. It may be asked in any thread."""
        now, first = monotonic(), self._beginning
        if first is not None:
            return perf_counter() - first.started > first.limit_s + self.grace_s
        timed = [each for each in self.timer.all() if isinstance(each, Guest)]
        own = [guest for guest in timed if guest.task is task]
        return bool(timed) and all(now > guest.when + self.grace_s for guest in own or timed)

    def give_up(self, task: asyncio.Task[None]) -> None:
        """Wait for a task no more. It may go on until the end."""
        _tell_task(task, self._given_up)

    async def settle(self) -> None:
        """Wait a little for those that were told to leave; they may hold what others close."""
        leaving, self._leaving = self._leaving, set()
        if leaving:
            _, still = await asyncio.wait(leaving, timeout=self.grace_s)
            for task in still:
                self.give_up(task)

    async def __aenter__(self) -> Guests:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End whoever is still there."""
        await self.settle()
        self.timer.close()
        self._starter.close()
        if self._given_up:
            end_tasks(self._given_up)
            await asyncio.sleep(0)


def _tell_task(task: asyncio.Task[None], those: set[asyncio.Task[None]]) -> None:
    if not task.done():
        task.cancel()
        those.add(task)
        task.add_done_callback(those.discard)
