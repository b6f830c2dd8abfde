"""What a pool is made of: workers, and what each of them is at."""

from __future__ import annotations

import asyncio
from typing import Any

from evalcase.places.channel import Channel


class WorkerLostError(Exception):
    """Who was asked has ended, and nobody else is asked."""


class Task:
    """One message, until it is answered."""

    __slots__ = (
        "deaths", "done", "is_within", "may_move", "message", "number", "session", "worker",
    )  # fmt: skip

    def __init__(
        self, number: int, message: dict[str, Any], done: asyncio.Future[Any], *, may_move: bool
    ) -> None:
        self.number = number
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


class Worker:
    """A channel, and what is under way there."""

    __slots__ = ("channel", "is_blocked", "is_lost", "is_ready", "tasks")

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.tasks: dict[int, Task] = {}
        self.is_ready = False
        """Whether it has said that it can be asked."""
        self.is_lost = False
        self.is_blocked = False
