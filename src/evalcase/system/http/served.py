"""What a server is asked, and what it says: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO, NamedTuple


class ServedRequest(NamedTuple):
    """A question as it was sent: nothing of it is unescaped or joined."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    has_body: bool = False
    """Whether something follows. It is not read, so the connection ends with the answer."""
    keeps: bool = True
    """Whether the connection is kept for another."""

    def all(self, name: str) -> list[str]:
        """Every value of a header; the name is in small letters."""
        return [value for each, value in self.headers if each == name]

    def get(self, name: str) -> str | None:
        """The first value of a header."""
        return next(iter(self.all(name)), None)


class ServedAnswer(NamedTuple):
    """An answer. A file is sent from its beginning to its end, and closed."""

    status: int
    headers: Mapping[str, str]
    body: bytes | BinaryIO
