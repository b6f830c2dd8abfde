"""What a pool is made of: workers, and what each of them is at."""

from __future__ import annotations

import asyncio
from typing import Any

from evalcase.places.channel import NO_MESSAGE, Channel
from evalcase.places.replies import Read, read_reply


class WorkerLostError(Exception):
    """Who was asked has ended, and nobody else is asked."""


class Task:
    """One message, until it is answered."""

    __slots__ = (
        "deaths", "done", "is_within", "may_move", "message", "number", "read", "session",
        "worker",
    )  # fmt: skip

    def __init__(
        self, number: int, message: dict[str, Any], done: asyncio.Future[Any], *, may_move: bool
    ) -> None:
        self.number = number
        """Code in a worker can't guess it, and so can't answer in the place of others."""
        self.message = message
        self.done = done
        self.deaths = 0
        """How many workers have ended while they did nothing else."""
        self.may_move = may_move
        """Whether another worker can do it as well: not if this one holds what it needs."""
        self.is_within = False
        """Whether it is asked for something else that is under way, which ends with it."""
        self.session: str | None = None
        """The session that it begins, if that is to be alone with its worker."""
        self.worker: Worker | None = None
        self.read: Read = _as_it_is
        """Makes a value of the answer, or raises ValueError if that makes no sense."""


def _as_it_is(told: dict[str, Any]) -> dict[str, Any]:
    return told


class Worker:
    """A channel, and what is under way there."""

    __slots__ = ("channel", "dropped", "is_blocked", "is_lost", "is_ready", "tasks")

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.tasks: dict[int, Task] = {}
        self.dropped: set[int] = set()
        """What nobody waits for any more: an answer may be under way."""
        self.is_ready = False
        """Whether it has said that it can be asked."""
        self.is_lost = False
        self.is_blocked = False

    def take_answer(self, number: int, told: dict[str, Any]) -> bool:
        """Take what it says to something that it was asked. It is ended if it was not asked, or if
        that makes no sense: then false comes out."""
        task = self.tasks.get(number)
        if task is None:
            if number not in self.dropped:
                self.channel.kill(NO_MESSAGE)
            self.dropped.discard(number)
            return False
        try:
            read = read_reply(told, task.read)
        except ValueError as error:
            self.channel.kill(f"what it answered makes no sense: {error!s:.200}")
            return False
        del self.tasks[number]
        if not task.done.done():
            task.done.set_result(read)
        return True
