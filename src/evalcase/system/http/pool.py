"""Connections to one host, kept for a while. How many there are is for others to limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from evalcase.system.http.connection import Connection

_IDLE_S = 15.0
"""How long a connection is kept that nobody uses: servers close theirs not much later."""
_END_S = 1.0


class ConnectionPool:
    """What `connect` makes, and what is left of it."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._all: set[Connection] = set()
        self._idle: list[tuple[Connection, float]] = []
        """The one that was used last comes last, with the time of that."""
        self._sweeper: asyncio.TimerHandle | None = None

    def take_idle(self) -> Connection | None:
        """The one that was used last, if any is there that can be used."""
        while self._idle:
            connection, _ = self._idle.pop()
            if connection.is_open and connection.is_quiet:
                return connection
            connection.abort()
        return None

    async def make(self) -> Connection:
        """Another one. Raise HttpError."""
        connection = await self._connect()
        self._all.add(connection)
        connection.lost.add_done_callback(lambda _: self._all.discard(connection))
        return connection

    def release(self, connection: Connection) -> None:
        """Keep it, or close it if an answer has not come to its end."""
        if not connection.may_be_kept:
            connection.abort()
            return
        connection.rest()
        loop = asyncio.get_running_loop()
        self._idle.append((connection, loop.time()))
        if self._sweeper is None:
            self._sweeper = loop.call_later(_IDLE_S, self._sweep)

    async def close(self) -> None:
        """Close every connection, and wait until their sockets are closed."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        left = list(self._all)
        for connection in left:
            connection.abort()
        if left:
            await asyncio.wait([each.lost for each in left], timeout=_END_S)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        since = loop.time() - _IDLE_S
        for connection, used in self._idle:
            if used <= since:
                connection.abort()
        self._idle = [each for each in self._idle if each[1] > since]
        self._sweeper = None
        if self._idle:
            self._sweeper = loop.call_later(self._idle[0][1] - since, self._sweep)
