"""A file whose reader is watched: whoever wants to know whether it is still the same file can look
each time that some of it was read, which is far less often than there are cases in it."""

from __future__ import annotations

from collections.abc import Callable
from io import SEEK_SET, RawIOBase
from typing import IO, cast


def watch_file(file: IO[bytes], look: Callable[[], None]) -> IO[bytes]:
    """The same file; `look` is called once something was read, and may raise."""
    return cast("IO[bytes]", _WatchedFile(file, look))


class _WatchedFile(RawIOBase):
    def __init__(self, file: IO[bytes], look: Callable[[], None]) -> None:
        self._file = file
        self._look = look

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._look()
        return data

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()
