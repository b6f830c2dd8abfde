"""A connection to a server: bytes go out, and one answer at a time comes back.

It reads no faster than the body is taken, so that an answer of any size needs little memory.
"""

from __future__ import annotations

import asyncio
import select
import ssl
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

from evalcase.system.http.answer_reader import AnswerReader
from evalcase.system.http.errors import BrokenOffError, HttpError
from evalcase.system.http.two_way import TwoWay

_HIGH = 1 << 18
"""How many bytes of a body may lie here until no more are read."""


class Upload(NamedTuple):
    """A body that is not in memory, and how long it is."""

    size: int
    blocks: AsyncGenerator[bytes, None]


class Connection(TwoWay):
    """One connection, from the moment it is made."""

    def __init__(self) -> None:
        super().__init__()
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._error: HttpError | None = None
        self._is_paused = False
        self._upload: asyncio.Task[None] | None = None
        self.lost = self._loop.create_future()
        """Done when its socket is closed."""

    # What it is for.

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None, "it is not made yet"
        return self._transport

    @transport.setter
    def transport(self, transport: asyncio.Transport) -> None:
        """Another one, once TLS has begun."""
        self._transport = transport

    @property
    def is_open(self) -> bool:
        """Whether something can be sent: nobody has closed it, or said what wasn't asked for."""
        return self._error is None and not self.transport.is_closing()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has come that nobody has read yet: what was sent too late would be taken
        for the answer to the next question."""
        return not _is_readable(self.transport.get_extra_info("socket").fileno())

    @property
    def may_be_kept(self) -> bool:
        """Whether the last answer came to its end, and left a connection that can be used. A server
        that answered before it had read the question may never read it."""
        reader = self._reader
        if reader is None or not (reader.is_whole and reader.is_reusable and self.is_open):
            return False
        return self._upload is None and not self.transport.get_write_buffer_size()

    async def ask(
        self, head: bytes, body: bytes | Upload = b"", *, has_body: bool = True
    ) -> AnswerReader:
        """Send a request, and wait for the headers of its answer. Raise HttpError."""
        self._reader = reader = AnswerReader(has_body=has_body)
        if isinstance(body, bytes):
            self.transport.write(head + body)
        else:
            self.transport.write(head)
            self._upload = asyncio.ensure_future(self._send(body))
            self._upload.add_done_callback(self._end_upload)
        while not reader.is_begun:
            await self._wait()
        return reader

    async def take(self) -> bytes:
        """What has come of the body, as soon as there is something; nothing once it is whole."""
        reader = self._reader
        assert reader is not None, "nothing was asked"
        while not reader.chunks:
            if reader.is_whole:
                return b""
            await self._wait()
        data = reader.take()
        self._resume()
        return data

    def rest(self) -> None:
        """Nothing is asked for now."""
        self._reader = None
        self._resume()

    def abort(self) -> None:
        """Close it at once, whatever is on its way."""
        if self._upload is not None:
            self._upload.cancel()
        if self._reader is not None:
            self._reader.close()
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            self._fail(BrokenOffError("something came that was not asked for"))
            return
        try:
            reader.feed(data)
        except HttpError as error:
            self._fail(error)
            return
        if reader.size > _HIGH and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._end(None, is_said=_is_end_said(self.transport))

    def connection_lost(self, error: Exception | None) -> None:
        self._end(error)
        if not self.lost.done():
            self.lost.set_result(None)

    # Beneath.

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self.transport.resume_reading()

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _end(self, error: Exception | None, *, is_said: bool = False) -> None:
        """The other side has ended it, and may have said so; or something between."""
        reader = self._reader
        try:
            if error is not None and not (reader is not None and reader.is_whole):
                raise BrokenOffError(str(error) or type(error).__name__)
            if reader is not None:
                reader.feed_eof(is_said=is_said)
            raise BrokenOffError("the other side has closed it")
        except BrokenOffError as broken:
            self._fail(broken)

    def _fail(self, error: HttpError) -> None:
        if self._error is None:
            self._error = error
        self.resume_writing()
        self._wake()
        self.abort()

    async def _send(self, body: Upload) -> None:
        """Send a body piece by piece, while its answer may come already."""
        sent = 0
        async with aclosing(body.blocks) as blocks:
            async for block in blocks:
                sent += len(block)
                self.transport.write(block)
                if self._room is not None:
                    await self._room
                if self._error is not None:
                    return
        if sent != body.size:
            raise ValueError("what was to be sent has changed its size")

    def _end_upload(self, upload: asyncio.Task[None]) -> None:
        error = None if upload.cancelled() else upload.exception()
        if error is not None:
            self._fail(BrokenOffError(str(error)))
        elif not upload.cancelled():
            self._upload = None


def _is_readable(descriptor: int) -> bool:
    """Whether a socket has bytes, or its end, at this moment."""
    if sys.platform == "win32":
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _is_end_said(transport: asyncio.Transport) -> bool:
    """Whether the other side has ended a connection, and nobody between: with TLS, only that side
    can say so."""
    secured = transport.get_extra_info("ssl_object")
    if secured is None:
        return True
    try:
        return not secured.read(1)
    except ssl.SSLError:
        return False
