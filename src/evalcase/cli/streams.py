"""Standard output and error, while code of the user's may do with them what it likes.

The output of the command itself is kept apart, where user code can't reach it. Whatever else is
printed, by Python code, by a library or by a child, goes to standard error, and is lost where that
can't be written: a full disk for the log ends no run.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO, TextIOWrapper
from typing import BinaryIO, NamedTuple, TextIO, cast


class LentStream(TextIOWrapper):
    """A stream that can't be closed, and never says that it could not write."""

    scrub: Callable[[str], str] | None = None
    """What is done to a text before it is written."""

    def write(self, text: str) -> int:
        shown = text if self.scrub is None else self.scrub(text)
        with suppress(OSError):
            super().write(shown)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()

    def close(self) -> None:
        self.flush()


class Streams(NamedTuple):
    """What evalcase itself writes to, and what it has lent to everybody else."""

    out: TextIO
    err: TextIO
    lent: tuple[LentStream, ...] = ()

    def scrub_lent(self, scrub: Callable[[str], str]) -> None:
        """From now on, take secrets out of what others print."""
        for stream in self.lent:
            stream.scrub = scrub


def take_streams() -> Streams:
    """Keep standard output and error for evalcase, and lend others to everybody else, for as long
    as this process goes on: a thread that was left behind may still print at its end."""
    out, err = sys.stdout, sys.stderr
    if (_descriptor_of_stream(out), _descriptor_of_stream(err)) != (1, 2):
        # Replaced by a caller in Python: there are no descriptors to redirect.
        sys.stdout = sys.stderr = lent = _lend_stream(err.buffer)
        return Streams(out, err, (lent,))
    out.flush()
    both = _lend_stream(_open_writer(1)), _lend_stream(_open_writer(2))
    kept = Streams(_keep_stream(1, out), _lend_stream(_open_writer(os.dup(2))), both)
    os.dup2(2, 1)
    sys.stdout, sys.stderr = both
    # Python flushes them at its end, and what is there by then may fail. What is registered first
    # is called last.
    atexit.register(_put_back, sys.stdout, sys.stderr)
    return kept


def _put_back(out: TextIO, err: TextIO) -> None:
    sys.stdout, sys.stderr = out, err


@contextmanager
def same_streams() -> Iterator[None]:
    """Undo what others put in the place of standard output and error."""
    before = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def discard_stream(stream: TextIO) -> None:
    """Give a stream another end, so that nothing fails when it is flushed at exit."""
    number = _descriptor_of_stream(stream)
    if number >= 0:
        with suppress(OSError):  # there may be no descriptor left
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _keep_stream(number: int, before: TextIO) -> TextIO:
    return open(
        os.dup(number), "w", encoding="utf-8", errors="backslashreplace",
        buffering=1 if before.isatty() else -1,
    )  # fmt: skip


def _lend_stream(writer: BinaryIO) -> LentStream:
    return LentStream(writer, "utf-8", "backslashreplace", line_buffering=True)


def _open_writer(number: int) -> BinaryIO:
    """Not buffered: what could not be written is not tried again."""
    return cast("BinaryIO", FileIO(number, "w", closefd=False))


def _descriptor_of_stream(stream: TextIO) -> int:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return -1
