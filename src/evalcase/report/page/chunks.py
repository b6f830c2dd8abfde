"""Details of cases in, compressed chunks out; and which of them are left out of a file that would
be larger than is wanted.

Details of cases that passed lie in chunks of their own. Only they are ever left out.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator
from random import Random
from typing import BinaryIO, NamedTuple

from msgspec import Struct, field

from evalcase.report.page.messages import Told

_CASES = 200
_BYTES = 1_000_000
"""A chunk is unpacked when one of its cases is opened, so it must not be large."""


def pack_element(id: str, data: bytes) -> bytes:
    """Compressed data as an element that the browser neither draws nor looks into. Base64 has no
    character that could end it."""
    return b'<template id="%s">%s</template>\n' % (id.encode(), b64encode(data))


def squeeze_json(value: object) -> bytes:
    """A value as compressed JSON, the same bytes each time."""
    text = json.dumps(value, separators=(",", ":"))
    return gzip.compress(text.encode(), 6, mtime=0)


class _Chunk(Struct):
    """Details that wait until there are enough of them."""

    number: int
    texts: list[str] = field(default_factory=list)
    size: int = 0

    def pack(self) -> bytes:
        text = f"[{','.join(self.texts)}]"
        return pack_element(f"c{self.number}", gzip.compress(text.encode(), 6, mtime=0))


class Spooled(NamedTuple):
    """A chunk of passed cases, where it lies until it is known how much fits."""

    number: int
    cases: int
    start: int
    size: int


class KeptChunks(NamedTuple):
    """Which chunks are in the file in the end, and what is not."""

    chunks: list[Spooled]
    dropped: list[int]
    """Numbers of chunks."""
    cases: int
    """How many cases they held."""


class Chunks:
    """Packs details. Those that are always kept can be taken at once, others are put aside."""

    def __init__(self, scratch: BinaryIO) -> None:
        self._scratch = scratch
        self._count = 0
        self._open: dict[bool, _Chunk] = {}
        self._spooled: list[Spooled] = []
        self._ready: list[bytes] = []

    def add(self, told: Told, *, may_drop: bool) -> tuple[int, int]:
        """Take the detail of a case. Return its chunk, and its place in it."""
        text = json.dumps(told, separators=(",", ":"))
        chunk = self._open.get(may_drop)
        if chunk is None:
            chunk = self._open[may_drop] = _Chunk(self._count)
            self._count += 1
        chunk.texts.append(text)
        chunk.size += len(text)
        where = chunk.number, len(chunk.texts) - 1
        if len(chunk.texts) >= _CASES or chunk.size >= _BYTES:
            self._close(may_drop)
        return where

    def finish(self) -> None:
        """Pack what is left."""
        for may_drop in list(self._open):
            self._close(may_drop)

    def _close(self, may_drop: bool) -> None:
        chunk = self._open.pop(may_drop)
        data = chunk.pack()
        if not may_drop:
            self._ready.append(data)
            return
        at = self._scratch.tell()
        self._scratch.write(data)
        self._spooled.append(Spooled(chunk.number, len(chunk.texts), at, len(data)))

    def take(self) -> list[bytes]:
        """The chunks that are always kept, as far as they were not taken before."""
        ready, self._ready = self._ready, []
        return ready

    def choose(self, room: int) -> KeptChunks:
        """Leave out as many chunks as it takes, at random but the same each time."""
        order = self._spooled[:]
        Random(0).shuffle(order)  # noqa: S311 - it is no secret
        total = sum(chunk.size for chunk in order)
        dropped: list[Spooled] = []
        while order and total > room:
            dropped.append(order.pop())
            total -= dropped[-1].size
        return KeptChunks(
            sorted(order), sorted(chunk.number for chunk in dropped),
            sum(chunk.cases for chunk in dropped),
        )  # fmt: skip

    def read(self, kept: KeptChunks) -> Iterator[bytes]:
        """The chunks that are kept, as they are in the file."""
        for chunk in kept.chunks:
            self._scratch.seek(chunk.start)
            yield self._scratch.read(chunk.size)
