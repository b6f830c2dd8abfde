"""The journal of a run, open for writing. A thread writes all rows that wait, and syncs once: then
they are acknowledged. One process at a time holds the lock."""

from __future__ import annotations

import errno
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from queue import SimpleQueue

from evalcase.errors import RecordError
from evalcase.store.reader import JournalLines
from evalcase.store.rows import Row
from evalcase.store.scrub import encode_clean
from evalcase.types.value import Value
from evalcase.util.environment import monotonic
from evalcase.util.files import (
    BINARY,
    NO_LINK,
    NO_WAIT,
    Disk,
    LocalDisk,
    find_meddling,
    open_file,
    sync_folder,
    write_all,
)
from evalcase.util.rows import body_of, parse_body
from evalcase.util.secrets import Scrubber

if sys.platform != "win32":
    import fcntl

Done = Callable[[], None]

GROUP = 4 * 1024 * 1024
"""Bytes after which a group is written, even if more lines wait."""
REST_S = 0.005
"""How long after a sync lines may wait for others, unless a caller waits for them: a sync takes as
much CPU as three trials."""
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)
"""Some network file systems have no locks. As on Windows, the run goes on without."""


class JournalFailure(Value, frozen=True):
    """Why a journal takes no more rows, and what is safe."""

    path: str
    error: OSError
    rows: int
    """How many rows are on disk, those of earlier sessions included."""
    last: str | None
    """The case or the type of the last of them."""

    def __str__(self) -> str:
        what = f"{self.path} can't be written: {self.error.strerror or self.error}"
        if self.error.errno == errno.ESTALE:
            return f"{what}. If a target clears up there, `--runs-dir` keeps records elsewhere"
        if self.last is None:
            return f"{what}; no row is safe"
        return f"{what}; safe are the first {self.rows} rows, the last of them {self.last!r}"


class Journal:
    """A journal open for writing, made by `open_journal`. The first error ends it: after a failed
    sync the state of the disk is unknown, and a second sync would report success."""

    def __init__(
        self, fd: int, old: JournalLines, disk: Disk, scrubber: Scrubber,
        deliver: Callable[[list[Done]], None], on_failure: Callable[[JournalFailure], None],
    ) -> None:  # fmt: skip
        self.path = old.path
        self.cut = old.torn
        """The half-written line of an earlier session, which was removed."""
        self.rows = old.count
        """How many rows are on disk, those of earlier sessions included."""
        self.failure: JournalFailure | None = None
        """Why no more rows are taken; None if all is well."""
        self._fd, self._disk, self._scrubber = fd, disk, scrubber
        self._deliver, self._on_failure = deliver, on_failure
        self._size, self._last = old.size, old.last
        self._queue: SimpleQueue[tuple[bytes, Done] | None] = SimpleQueue()
        """None is the last entry."""
        self._is_awaited = threading.Event()
        """Whether a caller waits until the queued rows are on disk."""
        self._synced_at = -inf
        self._finished = self._is_over = False
        # A daemon, so that the process can end after a crash elsewhere.
        self._thread = threading.Thread(target=self._write_groups, name="journal", daemon=True)
        self._thread.start()

    def encode(self, row: Row) -> tuple[bytes, Row]:
        """The line of a row, and the row without secrets. Raise ValueError for what can't be
        written as JSON."""
        return encode_clean(row, self._scrubber.look())

    def append(self, row: Row, done: Done) -> None:
        """Queue a row. Once it is on disk, `done` is called. Raise ValueError for what can't be
        written as JSON; RecordError if the journal has failed or is closed."""
        self.put(self.encode(row)[0], done)

    def put(self, lines: bytes, done: Done) -> None:
        """The same for encoded rows: all of them are written, or none."""
        if self.failure is not None:
            raise RecordError(str(self.failure))
        if self._fd < 0 or self._is_over:
            raise RecordError(f"{self.path} is closed")
        self._queue.put((lines, done))

    def hurry(self) -> None:
        """Write queued rows at once, because a caller waits for them."""
        if not self._is_awaited.is_set():
            self._is_awaited.set()

    def close(self) -> None:
        """Wait until every row is on disk, and release the lock. RecordError if one is not."""
        if self._fd < 0:
            return
        self._queue.put(None)
        self.hurry()
        self._thread.join()
        fd, self._fd = self._fd, -1
        unlock_journal(fd, self.path)
        if self.failure is not None:
            raise RecordError(str(self.failure)) from self.failure.error
        if not self._finished:
            raise RecordError(f"{self.path} may lack rows: its writer was ended by an exception")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def release_in_child(self) -> None:
        """In a forked child: a process that outlives this one must not hold the lock."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write_groups(self) -> None:
        try:
            more = True
            while more and self.failure is None:
                group, more = self._take_group()
                if group:
                    self._commit(group)
            self._finished = True
        finally:
            self._is_over = True

    def _take_group(self) -> tuple[list[tuple[bytes, Done]], bool]:
        """All rows that wait, at least one entry; and whether more may come."""
        group: list[tuple[bytes, Done]] = []
        size = 0
        while size < GROUP and (not group or not self._queue.empty()):
            entry = self._queue.get()
            if entry is None:
                return group, False
            if not group:
                rest_s = self._synced_at + REST_S - monotonic()
                if rest_s > 0:
                    self._is_awaited.wait(rest_s)
                # Rows that a caller waits for are queued by now, and part of this group.
                self._is_awaited.clear()
            group.append(entry)
            size += len(entry[0])
        return group, True

    def _commit(self, group: list[tuple[bytes, Done]]) -> None:
        data = b"".join([line for line, _ in group])
        try:
            write_all(self._disk, self._fd, data)
        except OSError as error:
            # Whole lines in the file may stay: the next writer syncs them first.
            self._fail(error)
            return
        try:
            self._disk.fsync(self._fd)
        except OSError as error:
            # What can be read now may be gone later, so it must not look finished.
            with suppress(OSError):
                self._disk.truncate(self._fd, self._size)
            self._fail(error)
            return
        self._synced_at = monotonic()
        self._size += len(data)
        # An agent may delete the folder that it works in, and the record with it.
        meddling = find_meddling(self._fd, self.path, self._size)
        if meddling is not None:
            self.rows, self._last = 0, b""
            self._fail(OSError(errno.ESTALE, meddling))
            return
        self._last = group[-1][0]
        self.rows += data.count(b"\n")
        self._deliver([done for _, done in group])

    def _fail(self, error: OSError) -> None:
        line = self._last[self._last.rfind(b"\n", 0, -1) + 1 :]
        last = _name_row(line) if line else None
        self.failure = JournalFailure(self.path, error, self.rows, last)
        self._on_failure(self.failure)


def _name_row(line: bytes) -> str:
    row = parse_body(body_of(line))
    return str(row["key"][1] if "key" in row else row.get("case", row.get("type")))


def open_journal(
    path: str,
    *,
    scrubber: Scrubber | None = None,
    deliver: Callable[[list[Done]], None] | None = None,
    on_failure: Callable[[JournalFailure], None] | None = None,
    read: Callable[[JournalLines], object] | None = None,
    disk: Disk | None = None,
) -> Journal:
    """Open a journal for writing: a new one, or that of an earlier session, cut to its whole lines.

    `deliver` gets the `done`s of each group and calls them; by default in the journal's thread.
    `on_failure` is called once from there: rows without acknowledgement will have none.
    `read` reads the lines of earlier sessions while they are verified. RecordError if the journal
    is damaged, can't be written, or has another writer.
    """
    disk = disk or LocalDisk()
    with _record_errors(path):
        # A link would lead to a file outside the run: a stranger's record may hold one.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_LINK | BINARY
        fd = os.open(path, flags, 0o666)
        try:
            lock_journal(fd, path)
        except BaseException:
            os.close(fd)
            raise
        try:
            old = JournalLines(path)
            (read or _verify_lines)(old)
            if old.torn is not None:
                disk.truncate(fd, old.torn.start)
            # The rows of a killed writer may be in memory only.
            disk.fsync(fd)
            sync_folder(disk, os.path.dirname(path))
        except BaseException:
            unlock_journal(fd, path)
            raise
    journal = Journal(
        fd, old, disk, scrubber or Scrubber({}), deliver or _call_each, on_failure or _ignore
    )
    if sys.platform != "win32":
        release = weakref.WeakMethod(journal.release_in_child)
        os.register_at_fork(after_in_child=lambda: (call := release()) and call())
    return journal


def _verify_lines(lines: JournalLines) -> None:
    for _ in lines:
        pass


@contextmanager
def _record_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror or error
        raise RecordError(f"{path} can't be written: {why}") from error


def _call_each(dones: list[Done]) -> None:
    for done in dones:
        done()


def _ignore(_: JournalFailure) -> None:
    """`close` raises the failure."""


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
    """Close the journal, and with it the lock."""
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
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _read_writer(path: str) -> int | None:
    try:
        with open_file(_path_of_note(path), links=False) as file:
            return int(file.read(20))
    except (OSError, ValueError):
        return None


def _path_of_note(path: str) -> str:
    return os.path.join(os.path.dirname(path), "writer.pid")
