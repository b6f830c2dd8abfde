"""A server for a browser of this machine: GET and HEAD, one page after the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from evalcase.system.http.served import ServedAnswer, ServedRequest
from evalcase.system.http.server_connection import Answering, ServerConnection

Answerer = Callable[[ServedRequest], Awaitable[ServedAnswer]]
Refuse = Callable[[int, str], ServedAnswer]


class HttpServer:
    """Listens, and has every request answered."""

    def __init__(self, answer: Answerer, refuse: Refuse, logger: logging.Logger) -> None:
        """`refuse` makes an answer of a status and a few words. What `answer` raises is logged."""
        self._answer = answer
        self._refuse = refuse
        self._logger = logger
        self._listening: asyncio.Server | None = None
        self._connections: set[ServerConnection] = set()

    async def listen(self, host: str, port: int) -> int:
        """The port. Raise OSError if it can't be had."""
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._make_connection, host, port)
        found: int = self._listening.sockets[0].getsockname()[1]
        return found

    async def close(self, patience_s: float) -> None:
        """Take no more questions. Whatever is not answered by then is given up."""
        if self._listening is not None:
            self._listening.close()
        left = {each.task for each in self._connections}
        for each in self._connections:
            each.end()
        late = (await asyncio.wait(left, timeout=patience_s))[1] if left else set()
        for task in late:
            task.cancel()
        for each in list(self._connections):
            each.abort()
        await asyncio.gather(*late, return_exceptions=True)
        await asyncio.sleep(0)

    def _make_connection(self) -> ServerConnection:
        return _Watched(Answering(self._answer_or_say, self._refuse), self._connections)

    async def _answer_or_say(self, request: ServedRequest) -> ServedAnswer:
        try:
            return await self._answer(request)
        except Exception:
            self._logger.exception("a request can't be answered")
            return self._refuse(500, "this can't be shown; the terminal says why")


class _Watched(ServerConnection):
    """One that is in a set for as long as it is there."""

    def __init__(self, answering: Answering, known: set[ServerConnection]) -> None:
        super().__init__(answering)
        self._known = known

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._known.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._known.discard(self)
