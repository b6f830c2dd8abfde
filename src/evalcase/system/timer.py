"""Time limits for what is awaited: one timer for all limits of the same length.

`asyncio.timeout` sets and clears a timer of the event loop for each trial. Trials that have the
same limit end in the order in which they began, so here the loop is asked once for all of them.
"""

from __future__ import annotations

import asyncio
from types import TracebackType


class Limit:
    """Cancels what is awaited inside of it once its time is over, and raises TimeoutError then."""

    __slots__ = ("_group", "_task", "expired", "when")

    def __init__(self, group: _Group, when: float) -> None:
        task = asyncio.current_task()
        assert task is not None, "a limit is for what is awaited in a task"
        self.when = when
        self.expired = False
        """Whether the time was over before what is inside had come to its end."""
        self._group = group
        self._task = task

    def __enter__(self) -> Limit:
        self._group.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del trace
        self._group.remove(self)
        if not self.expired:
            return
        others = self._task.uncancel()
        # Somebody else may have cancelled the task as well, and means all of it.
        if kind is None or (kind is asyncio.CancelledError and not others):
            raise TimeoutError from error

    def expire(self) -> None:
        self.expired = True
        self._task.cancel()


class _Group:
    """Limits of one length, in the order in which they end."""

    __slots__ = ("_limits", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._limits: dict[Limit, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, limit: Limit) -> None:
        self._limits[limit] = None
        if self._timer is None:
            self._timer = self._loop.call_at(limit.when, self._ring)

    def remove(self, limit: Limit) -> None:
        # The timer stays: when it rings, it is set for whoever is first by then.
        self._limits.pop(limit, None)

    def _ring(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._limits:
            first = next(iter(self._limits))
            if first.when > now:
                self._timer = self._loop.call_at(first.when, self._ring)
                return
            del self._limits[first]
            first.expire()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class Timer:
    """Gives out time limits. It belongs to one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._groups: dict[float, _Group] = {}

    def limit(self, seconds: float) -> Limit:
        """A limit that begins now: `with timer.limit(5): await …`."""
        group = self._groups.get(seconds)
        if group is None:
            group = self._groups[seconds] = _Group(self._loop)
        return Limit(group, self._loop.time() + seconds)

    def close(self) -> None:
        """Let the event loop forget what it was to ring for."""
        for group in self._groups.values():
            group.stop()
