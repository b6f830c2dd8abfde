"""How long something has stood in a queue: that is nobody's own time, and no limit counts it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar


class QueueTime:
    """Adds up the seconds in which one or more questions of a grader wait for their turn."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._waiting = 0
        self._since = 0.0

    def seconds(self) -> float:
        """All of it until now."""
        return self._seconds + (_read_clock() - self._since if self._waiting else 0.0)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count whoever queues in here, also in tasks that are begun in here."""
        token = _COUNTING.set((*_COUNTING.get(), self))
        try:
            yield
        finally:
            with suppress(ValueError):  # one that was given up is ended from elsewhere
                _COUNTING.reset(token)

    def enter(self) -> None:
        if not self._waiting:
            self._since = _read_clock()
        self._waiting += 1

    def leave(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._seconds += _read_clock() - self._since


_COUNTING: ContextVar[tuple[QueueTime, ...]] = ContextVar("queue_time", default=())


@contextmanager
def stand_in_queue() -> Iterator[None]:
    """Stand in a queue: told to all that count here."""
    several = _COUNTING.get()
    for each in several:
        each.enter()
    try:
        yield
    finally:
        for each in several:
            each.leave()


def _read_clock() -> float:
    return asyncio.get_running_loop().time()
