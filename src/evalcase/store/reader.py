"""The lines of a journal, verified one by one. A line that a crash left half written at the end is
told apart from damage. And the lock of a journal, which tells who writes it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader

from msgspec import Struct

from evalcase.errors import RecordError
from evalcase.store.rows import End, Row, decode_row
from evalcase.util.files import NO_LINK, NO_WAIT, open_file
from evalcase.util.json import MAX_LINE, body_of, fault_in, is_whole

if sys.platform != "win32":
    import fcntl

HALF_WRITTEN = "the last line of its journal is half written, and is dropped"
_TAIL = 64 * 1024
"""Bytes at the end of a journal in which the End is searched; it has some hundred."""


class JournalLines(Struct):
    """Iterate over the whole lines; then `torn` says what follows them. A second iteration has the
    lines that came since."""

    path: str
    count: int = 0
    start: int = 0
    """The byte at which the last line begins."""
    size: int = 0
    """The bytes of all lines so far."""
    torn: int | None = None
    """The number, from 1, of a line at the end whose writing was cut off. It was never reported as
    finished."""

    def __iter__(self) -> Iterator[bytes]:
        self.torn = None
        with open_journal_file(self.path) as file:
            file.seek(self.size)
            while line := file.readline(MAX_LINE + 1):
                if not is_whole(line):
                    # A writer that is cut short leaves no line feed. A whole line that is wrong was
                    # changed.
                    if line.endswith(b"\n") or len(line) > MAX_LINE:
                        raise damaged_error(self.path, self.count + 1, fault_in(line) or "")
                    self.torn = self.count + 1
                    return
                self.start = self.size
                self.size += len(line)
                self.count += 1
                yield line

    def rows(self) -> Iterator[Row]:
        """The row of each line. Raise RecordError for a damaged one."""
        for line in self:
            try:
                yield decode_row(body_of(line))
            except ValueError as error:
                what = f"is not a row of a journal: {error}"
                raise damaged_error(self.path, self.count, what) from error


def damaged_error(path: str, line: int, fault: str) -> RecordError:
    return RecordError(f"{path}:{line}: the record is damaged: this line {fault}")


def open_journal_file(path: str) -> BufferedReader:
    try:
        return open_file(path, links=False)
    except OSError as error:
        raise RecordError(f"{path} can't be read: {error.strerror or error}") from error


def read_row_at(path: str, file: BufferedReader, at: int) -> Row:
    """The row that begins at a byte of a journal whose lines were verified before."""
    file.seek(at)
    line = file.readline(MAX_LINE + 1)
    try:
        if is_whole(line):
            return decode_row(body_of(line))
    except ValueError:
        pass
    raise changed_error(path)


def changed_error(path: str) -> RecordError:
    return RecordError(f"{path} changed while it was read")


def read_end(path: str) -> End:
    """How a run ended, if the last row says so. Damage is reported where all rows are read."""
    incomplete = End("incomplete")
    try:
        with open_file(path, links=False) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    except OSError:
        return incomplete  # killed before the first row
    line = tail[tail.rfind(b"\n", 0, -1) + 1 :]
    if not is_whole(line):
        return incomplete if line.endswith(b"\n") or not line else End("incomplete", HALF_WRITTEN)
    try:
        row = decode_row(body_of(line))
    except ValueError:
        return incomplete
    return row if isinstance(row, End) else incomplete


# The lock of a journal.

_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)
"""Some network file systems have no locks. As on Windows, the run goes on without."""


def lock_journal(fd: int, path: str) -> None:
    """Lock the open journal at `path`, at once or not at all. The operating system releases the
    lock when the process ends. A file beside it holds the process id, for messages."""
    if sys.platform != "win32":
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            run = os.path.basename(os.path.dirname(os.path.abspath(path)))
            writer = _read_writer(path)
            by = "another process" if writer is None else f"process {writer}"
            raise RecordError(f"run {run} is being written by {by}") from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
    # In a stranger's folder, the note may be a link to another file, or a pipe.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK | NO_WAIT
    with suppress(OSError), open(os.open(_path_of_note(path), flags, 0o666), "wb") as file:
        file.write(str(os.getpid()).encode())


def unlock_journal(fd: int, path: str) -> None:
    with suppress(OSError):
        os.unlink(_path_of_note(path))
    with suppress(OSError):  # everything was synced before
        os.close(fd)


def is_written(path: str) -> bool:
    """Whether a process writes a journal, by the note beside it: the lock itself is not touched,
    because a writer might be about to take it."""
    writer = _read_writer(path)
    if writer is None or writer <= 0 or sys.platform == "win32":
        return False
    try:
        os.kill(writer, 0)
    except OSError as error:
        return error.errno == errno.EPERM
    return True


def _read_writer(path: str) -> int | None:
    try:
        with open_file(_path_of_note(path), links=False) as file:
            return int(file.read(9))
    except (OSError, ValueError):
        return None


def _path_of_note(path: str) -> str:
    return os.path.join(os.path.dirname(path), "writer.pid")
