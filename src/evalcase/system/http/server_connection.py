"""A connection that somebody made to a server: questions are answered one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from http import HTTPStatus
from typing import NamedTuple

from evalcase.system.http.headers import write_lines
from evalcase.system.http.request_reader import BadRequestError, RequestReader
from evalcase.system.http.served import ServedAnswer, ServedRequest
from evalcase.system.http.two_way import TwoWay

_IDLE_S = 75.0
_HEAD_S = 30.0
"""How long a request may take from its first byte to the end of its headers."""
_LINGER_S = 1.0
_BLOCK = 1 << 18


class Answering(NamedTuple):
    """What a server says."""

    answer: Callable[[ServedRequest], Awaitable[ServedAnswer]]
    """To a request. It raises nothing."""
    refuse: Callable[[int, str], ServedAnswer]
    """To what is no request: a status, and what is wrong."""


class ServerConnection(TwoWay):
    """One connection, until one of both sides has enough."""

    def __init__(self, answering: Answering) -> None:
        super().__init__()
        self._answering = answering
        self._reader = RequestReader()
        self._asked: deque[ServedRequest | BadRequestError] = deque()
        self._limit: asyncio.Timeout | None = None
        self._is_over = False
        """Whether nothing more will come."""
        self._transport: asyncio.Transport
        self.task: asyncio.Task[None]

    def end(self) -> None:
        """Take no more questions."""
        self._is_over = True
        self._wake()

    def abort(self) -> None:
        """Close it at once."""
        self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.task = self._loop.create_task(self._serve())

    def data_received(self, data: bytes) -> None:
        was_begun = self._reader.is_begun
        self._asked.extend(self._reader.feed(data))
        if self._asked:
            self._transport.pause_reading()
            self._wake()
        elif self._reader.is_begun and not was_begun and self._limit is not None:
            self._limit.reschedule(self._loop.time() + _HEAD_S)

    def eof_received(self) -> bool:
        self.end()
        return True  # it may wait for its answer

    def connection_lost(self, error: Exception | None) -> None:
        del error
        self.end()
        self.resume_writing()

    # Beneath.

    async def _serve(self) -> None:
        try:
            while (asked := await self._next()) is not None:
                if isinstance(asked, BadRequestError):
                    refused = self._answering.refuse(asked.status, str(asked))
                    await self._send(refused, keeps=False)
                    break
                answer = await self._answering.answer(asked)
                await self._send(answer, keeps=asked.keeps, is_head=asked.method == "HEAD")
                if not asked.keeps:
                    break
            else:
                return
            await self._linger()
        finally:
            self._transport.close()

    async def _next(self) -> ServedRequest | BadRequestError | None:
        if not self._asked and not self._is_over:
            self._transport.resume_reading()
            await self._wait(_HEAD_S if self._reader.is_begun else _IDLE_S)
        return self._asked.popleft() if self._asked else None

    async def _wait(self, limit_s: float) -> None:
        self._waiter = self._loop.create_future()
        try:
            async with asyncio.timeout(limit_s) as self._limit:
                await self._waiter
        except TimeoutError:
            pass
        finally:
            self._waiter = self._limit = None

    async def _send(self, answer: ServedAnswer, *, keeps: bool, is_head: bool = False) -> None:
        body = answer.body
        if isinstance(body, bytes):
            head = _write_head(answer, len(body), keeps=keeps)
            self._transport.write(head if is_head else head + body)
            await self._drain()
            return
        with body:
            self._transport.write(_write_head(answer, body.seek(0, 2), keeps=keeps))
            body.seek(0)
            while not is_head and not self._transport.is_closing() and (block := body.read(_BLOCK)):
                self._transport.write(block)
                await self._drain()

    async def _drain(self) -> None:
        if self._room is not None and not self._transport.is_closing():
            await self._room

    async def _linger(self) -> None:
        """Let what was not read come to its end: a socket that is closed before takes the answer
        back."""
        if self._is_over or self._transport.is_closing():
            return
        self._transport.write_eof()
        self._asked.clear()
        self._transport.resume_reading()
        await self._wait(_LINGER_S)


def _write_head(answer: ServedAnswer, size: int, *, keeps: bool) -> bytes:
    own = {"Date": formatdate(usegmt=True), "Content-Length": f"{size}"}
    own |= {} if keeps else {"Connection": "close"}
    start = f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n".encode()
    return start + write_lines({**answer.headers, **own}) + b"\r\n"
