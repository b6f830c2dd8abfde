"""The bytes of an answer that came compressed: unpacked as they come, and held to their end, so
that half of an answer is never taken for all of it."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator

from evalcase.system.http.errors import NotHttpError

ACCEPTED = "gzip, deflate"
_GZIP = 16 + zlib.MAX_WBITS
_AT_MOST = 1_000_000
"""How many bytes are unpacked at a time: a few may become any number."""


class BrokenBodyError(Exception):
    """What came can't be unpacked, or not to its end."""


async def unpack(chunks: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    """Bytes as they were before they were packed. Raise BrokenBodyError where that fails, and
    NotHttpError for what is packed in a way that nobody offered."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        async for chunk in chunks:
            yield chunk
        return
    if name not in ("gzip", "x-gzip", "deflate"):
        raise NotHttpError(f"its Content-Encoding is `{name:.40}`, which was not asked for")
    unpacker = _Unpacker(is_gzip=name != "deflate")
    async for chunk in chunks:
        for piece in unpacker.add(chunk):
            yield piece
    if not unpacker.is_whole:
        raise BrokenBodyError(f"its {name} data ends too early")


class _Unpacker:
    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._stream = zlib.decompressobj(_GZIP if is_gzip else zlib.MAX_WBITS)
        self._is_begun = False

    @property
    def is_whole(self) -> bool:
        return self._stream.eof or not self._is_begun

    def add(self, data: bytes) -> Iterator[bytes]:
        is_full = False
        while data or is_full:
            if self._stream.eof:
                self._begin_another()
            try:
                piece = self._unpack(data)
            except zlib.error as error:
                raise BrokenBodyError(f"it can't be unpacked: {error}") from None
            self._is_begun = True
            if piece:
                yield piece
            data = self._stream.unconsumed_tail or self._stream.unused_data
            is_full = len(piece) == _AT_MOST and not self._stream.eof

    def _begin_another(self) -> None:
        """A gzip file may be several, one after the other."""
        if not self._is_gzip:
            raise BrokenBodyError("there is more after its end")
        self._stream = zlib.decompressobj(_GZIP)

    def _unpack(self, data: bytes) -> bytes:
        try:
            return self._stream.decompress(data, _AT_MOST)
        except zlib.error:
            if self._is_gzip or self._is_begun:
                raise
            # Some servers take "deflate" at its word, and leave out the frame.
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._stream.decompress(data, _AT_MOST)
