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
from inspect import isawaitable
from types import CoroutineType
from typing import Any, TypeAlias, TypeVar

from evalcase.model.quick_tuple import NamedTuple, tuple_of
from evalcase.system import forks
from evalcase.system.clock import perf_counter
from evalcase.system.eager import Starter
from evalcase.system.queue_time import QueueTime
from evalcase.system.stubborn import end_tasks
from evalcase.system.threads import PlainCall
from evalcase.system.timer import Timer
from evalcase.text.crash import tell_error

T = TypeVar("T")
Check: TypeAlias = Callable[[object], object]

GRACE_S = 2.5
"""How long a guest may take to leave. Programs are ended within that time."""


class Stay(NamedTuple):
    """What came of a guest: a value, unless there is an error or it was late."""

    value: object
    error: BaseException | None
    is_late: bool
    """Whether its time was over before it was done, whatever it came to then."""
    took_s: float


class NothingToAwaitError(TypeError):
    """A call gave something that can't be awaited, and was to be."""


def _as_it_is(value: object) -> object:
    return value


def _tell_error(error: BaseException) -> BaseException:
    """What a guest raised, told in its own time; but for what only evalcase can explain."""
    is_cancelled = type(error) is asyncio.CancelledError and not error.args
    return error if is_cancelled or type(error) is NothingToAwaitError else tell_error(error)


class _Guest:
    """One call that is awaited."""

    __slots__ = (
        "call", "check", "extension", "granted_s", "guests", "is_told", "limit_s", "queue",
        "started", "stay", "task", "waiter", "when",
    )  # fmt: skip

    def __init__(
        self, guests: Guests, started: float, limit_s: float, queue: QueueTime | None,
        check: Callable[[object], object],
    ) -> None:  # fmt: skip
        self.guests = guests
        self.check = check
        self.limit_s = limit_s
        self.queue = queue
        self.granted_s = 0.0
        """What was added to its limit, since it stood in a queue."""
        self.extension: asyncio.TimerHandle | None = None
        self.started = started
        self.when = 0.0
        self.is_told = False
        """Whether its time was over, and it was told."""
        self.stay: Stay | None = None
        self.waiter: asyncio.Future[None] | None = None
        self.task: asyncio.Task[None] | None = None
        self.call: PlainCall[object] | None = None
        """What is called in a thread, if that is all there is to it."""

    async def live(self, awaitable: Awaitable[object]) -> None:
        try:
            self.leave(self.check(await awaitable), None)
        except BaseException as error:  # noqa: BLE001 - the boundary: it is the guest's own
            self.leave(None, _tell_error(error))

    async def live_by(self, function: Callable[[T], Awaitable[object]], argument: T) -> None:
        """The same, where the call itself may raise: it is the guest's own, too."""
        try:
            given = function(argument)
            if type(given) is not CoroutineType and not isawaitable(given):
                raise NothingToAwaitError(type(given).__name__)
            self.leave(self.check(await given), None)
        except BaseException as error:  # noqa: BLE001 - the boundary, as above
            self.leave(None, _tell_error(error))

    def leave(self, value: object, error: BaseException | None) -> None:
        forks.end_if_forked(self.guests.forks)
        took_s = perf_counter() - self.started
        is_late = took_s > self.limit_s if self.queue is None else self._is_late(took_s)
        self.stay = tuple_of(Stay, (value, error, self.is_told or is_late, took_s))
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def take_stay(self) -> Stay:
        stay, self.stay = self.stay, None  # an error has this in its traceback, too
        if stay is None:
            assert self.call is not None
            return self._stay_of(self.call)
        return stay

    def _stay_of(self, call: PlainCall[object]) -> Stay:
        """What came of a call in a thread, by its own time: how long others took that were made
        in the same thread before it is nothing that it could help."""
        value = call.value if call.is_read else None  # what is to be awaited was left behind
        return Stay(value, call.error, self._is_late(call.took_s), call.took_s)

    def _is_late(self, took_s: float) -> bool:
        allowed_s = self.limit_s if self.queue is None else self.limit_s + self.queue.seconds()
        return self.is_told or took_s > allowed_s

    def ring(self) -> None:
        """Its time is over; the second time, also that to leave."""
        queued_s = self.queue.seconds() - self.granted_s if self.queue is not None else 0.0
        if self.is_told and self.task is not None:
            self.leave(None, None)
            self.guests.give_up(self.task)
        elif queued_s > 0:
            self.granted_s += queued_s
            self.extension = asyncio.get_running_loop().call_later(queued_s, self.ring)
        elif self.task is not None:
            self.is_told = True
            self.guests.timer.add(self, self.guests.grace_s)
            self.task.cancel()
        elif self.waiter is not None and not self.waiter.done():
            self.is_told = True
            self.leave(None, None)  # nobody can tell a thread to come back


class Guests:
    """Runs calls that are awaited, each by its own limit. It belongs to one event loop."""

    def __init__(self, grace_s: float = GRACE_S) -> None:
        self.timer = Timer()
        self.grace_s = grace_s
        self.forks = forks.count
        self._loop = asyncio.get_running_loop()
        self._starter = Starter()
        self._beginning: _Guest | None = None
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
        guest = _Guest(self, perf_counter(), limit_s, None, check)
        self._begin(guest, guest.live_by(function, argument), name)
        return guest.take_stay() if guest.stay is not None else self._stay_of(guest, name)

    @contextmanager
    def attend(self, limit_s: float) -> Iterator[None]:
        """Call code of the user's that is not awaited: it is ended like a guest that blocks."""
        outer = self._beginning
        self._beginning = _Guest(self, perf_counter(), limit_s, None, _as_it_is)
        try:
            yield
        finally:
            self._beginning = outer

    async def _stay_of(self, guest: _Guest, name: str) -> Stay:
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
    ) -> _Guest:  # fmt: skip
        guest = _Guest(self, perf_counter(), limit_s, queue, check)
        if isinstance(awaitable, PlainCall):
            awaitable.check, awaitable.tells = check, True
            guest.call, guest.waiter = awaitable, awaitable.begin()
            self.timer.add(guest, limit_s)
        else:
            self._begin(guest, guest.live(awaitable), name)
        return guest

    def _begin(self, guest: _Guest, life: Coroutine[Any, None, None], name: str) -> None:
        self._start(guest, life, name)
        if guest.task is not None:
            guest.waiter = self._loop.create_future()
            self.timer.add(guest, guest.limit_s)

    def _start(self, guest: _Guest, life: Coroutine[Any, None, None], name: str) -> None:
        """Let it make its first step, and a task of what is left then."""
        outer, self._beginning = self._beginning, guest
        guest.task = self._starter.start(life, name)
        self._beginning = outer
        forks.end_if_forked(self.forks)

    async def _wait(self, guests: Sequence[_Guest], name: str) -> None:
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

    def _go_on(self, guest: _Guest, name: str, _: object = None) -> None:
        """Where a call that is over has left something to wait for: that needs a task, and has what
        is left of the limit."""
        call, waiter = guest.call, guest.waiter
        if call is None or waiter is None or waiter.cancelled() or guest.is_told:
            return
        rest = call.rest()
        if rest is not None:
            guest.call, guest.waiter = None, self._loop.create_future()
            self._start(guest, guest.live(rest), name)
            if guest.task is not None and guest.when <= self._loop.time():
                guest.ring()  # it did just before

    def _part_with(self, guest: _Guest) -> None:
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
        now, first = self._loop.time(), self._beginning
        if first is not None:
            return perf_counter() - first.started > first.limit_s + self.grace_s
        timed = [each for each in self.timer.all() if isinstance(each, _Guest)]
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
