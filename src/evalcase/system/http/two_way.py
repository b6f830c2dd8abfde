"""What both ends of a connection do alike: wait for what comes, and for room for what they send."""

from __future__ import annotations

import asyncio


class TwoWay(asyncio.Protocol):
    """A connection, seen from one end."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] | None = None
        """Waited for by who reads, until something comes."""
        self._room: asyncio.Future[None] | None = None
        """Waited for by who sends, while what was written is still here."""

    def pause_writing(self) -> None:
        self._room = self._loop.create_future()

    def resume_writing(self) -> None:
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
