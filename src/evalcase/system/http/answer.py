"""What came of a request, for whoever asked."""

from __future__ import annotations

from collections.abc import AsyncIterator

from evalcase.system.http.answer_reader import AnswerReader
from evalcase.system.http.connection import Connection


class HttpAnswer(AsyncIterator[bytes]):
    """A status and headers; its body comes by iterating. Raise HttpError as it breaks off."""

    __slots__ = ("_connection", "headers", "status")

    def __init__(self, reader: AnswerReader, connection: Connection) -> None:
        self._connection = connection
        self.status = reader.status
        self.headers = reader.headers

    async def __anext__(self) -> bytes:
        data = await self._connection.take()
        if not data:
            raise StopAsyncIteration
        return data

    async def read(self) -> bytes:
        """All of the body that was not read yet."""
        data = await self._connection.take()
        pieces = [data]
        while piece := await self._connection.take():
            pieces.append(piece)
        return data if len(pieces) == 1 else b"".join(pieces)

    @property
    def length(self) -> int | None:
        """How long the body says that it is."""
        length = self.headers.get("content-length")
        return None if length is None else int(length)

    @property
    def content_type(self) -> str:
        """What the body is, without parameters."""
        said = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return said if "/" in said else "application/octet-stream"
