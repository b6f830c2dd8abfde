"""One guest: a call of the user's that is awaited, what comes of it, and when its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from types import CoroutineType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from evalcase.system import forks
from evalcase.system.clock import perf_counter
from evalcase.system.queue_time import QueueTime
from evalcase.system.threads import PlainCall
from evalcase.text.crash import tell_error

if TYPE_CHECKING:
    from evalcase.system.guests import Guests

T = TypeVar("T")


class Stay(NamedTuple):
    """What came of a guest: a value, unless there is an error or it was late."""

    value: object
    error: BaseException | None
    is_late: bool
    """Whether its time was over before it was done, whatever it came to then."""
    took_s: float


class NothingToAwaitError(TypeError):
    """A call gave something that can't be awaited, and was to be."""


def _tell_error(error: BaseException) -> BaseException:
    """What a guest raised, told in its own time; but for what only evalcase can explain."""
    is_cancelled = type(error) is asyncio.CancelledError and not error.args
    return error if is_cancelled or type(error) is NothingToAwaitError else tell_error(error)


class Guest:
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
        self.stay = Stay(value, error, self.is_told or is_late, took_s)
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
