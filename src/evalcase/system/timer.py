"""Rings for many things at once: one timer of the event loop for all limits of the same length.

`asyncio.timeout` sets and clears a timer of the event loop for each trial. Trials that have the
same limit end in the order in which they began, so here the loop is asked once for all of them.

It goes by a clock that nobody can set. The loop may be the user's, and its clock frozen or set: one
that rings too early is asked again, and one that never does is helped by whoever calls `look`.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from evalcase.system.clock import monotonic


class Timed(Protocol):
    """What has a limit."""

    when: float
    """The time at which it rings, by `monotonic`; set by the timer."""

    def ring(self) -> None:
        """The time is over."""
        ...


class _TimerGroup:
    """Limits of one length, in the order in which they end."""

    __slots__ = ("_loop", "_timed", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timed: dict[Timed, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, timed: Timed) -> None:
        self._timed[timed] = None
        if self._timer is None:
            self._timer = self._loop.call_later(timed.when - monotonic(), self.look)

    def remove(self, timed: Timed) -> None:
        # The timer stays: when it rings, it is set for whoever is first by then.
        self._timed.pop(timed, None)

    def all(self) -> list[Timed]:
        return list(self._timed)

    def look(self) -> None:
        """Ring for those whose time is over, and wait for the next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = monotonic()
        while self._timed:
            first = next(iter(self._timed))
            if first.when > now:
                self._timer = self._loop.call_later(first.when - now, self.look)
                return
            del self._timed[first]
            first.ring()

    def stop(self) -> None:
        self._timed.clear()
        if self._timer is not None:
            self._timer.cancel()


class Timer:
    """Rings for whatever is added to it. It belongs to one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._groups: dict[float, _TimerGroup] = {}

    def add(self, timed: Timed, seconds: float) -> None:
        """Ring once, so many seconds from now."""
        group = self._groups.get(seconds)
        if group is None:
            group = self._groups[seconds] = _TimerGroup(self._loop)
        timed.when = monotonic() + seconds
        group.add(timed)

    def remove(self, timed: Timed, seconds: float) -> None:
        """Don't ring for what was added with so many seconds."""
        self._groups[seconds].remove(timed)

    def look(self) -> None:
        """Ring for those whose time is over, whatever the loop takes for the time."""
        for group in list(self._groups.values()):
            group.look()

    def all(self) -> list[Timed]:
        """What it is to ring for."""
        return [timed for group in list(self._groups.values()) for timed in group.all()]

    def close(self) -> None:
        """Let the event loop forget what it was to ring for."""
        for group in self._groups.values():
            group.stop()
