"""The journal of a run: rows go in as they come, and are acknowledged once they are on disk."""

from __future__ import annotations

import errno
import os
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from evalcase.errors import RecordError
from evalcase.record.commit import Committer, Done, JournalFailure
from evalcase.record.lines import JournalLines
from evalcase.record.lock import is_named, lock_journal, unlock_journal
from evalcase.record.scrub import write_row
from evalcase.system.disk import Disk, LocalDisk, sync_folder
from evalcase.system.files import BINARY, NO_LINK
from evalcase.system.packed import ENDING
from evalcase.text.secret_search import KnownSecrets
from evalcase.text.secrets import Scrubber


class Journal:
    """A journal open for writing, made by `open_journal`."""

    def __init__(
        self, fd: int, old: JournalLines, committer: Committer, scrubber: Scrubber
    ) -> None:
        self.path = old.path
        self.cut = old.torn
        """What a crash had left half written. It is gone now."""
        self._fd, self._committer = fd, committer
        self.secrets: Callable[[], KnownSecrets] = scrubber.look
        """What must not be written, by now."""

    @property
    def failure(self) -> JournalFailure | None:
        """Why no more rows are taken, and which one is the last on disk; None if all is well."""
        return self._committer.failure

    @property
    def rows(self) -> int:
        """How many rows are on disk, those of earlier writers included."""
        return self._committer.rows

    def append(self, row: dict[str, Any], done: Done) -> None:
        """Queue a row, without secrets. Once it is on disk `done` is called, from the journal's
        thread.

        ValueError if the row can't be kept as JSON; the journal goes on without it.
        RecordError if the journal has failed or is closed.
        """
        self.put(write_row(row, self.secrets()).line, done)

    def put(self, lines: bytes, done: Done) -> None:
        """The same for lines of rows that have no secrets: all of them are written, or none."""
        failure = self._committer.failure
        if failure is not None:
            raise RecordError(str(failure))
        if self._fd < 0 or self._committer.is_over:
            raise RecordError(f"{self.path} is closed")
        self._committer.queue.put((lines, done))

    def hurry(self) -> None:
        """Say that somebody waits for what was appended: else it may wait for other rows."""
        self._committer.hurry()

    def close(self) -> None:
        """Wait until every row is on disk, and let others write. RecordError if one is not."""
        if self._fd < 0:
            return
        self._committer.queue.put(None)
        self._committer.hurry()
        self._committer.thread.join()
        fd, self._fd = self._fd, -1
        unlock_journal(fd, self.path)
        if self.failure is not None:
            raise RecordError(str(self.failure)) from self.failure.error
        if not self._committer.finished:
            raise RecordError(f"{self.path} may lack rows: its writer was ended by an exception")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def let_go(self) -> None:
        """In a forked child: a worker that outlives this process must not hold its lock."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def open_journal(
    path: str,
    *,
    scrubber: Scrubber | None = None,
    deliver: Callable[[list[Done]], None] | None = None,
    on_failure: Callable[[JournalFailure], None] | None = None,
    read: Callable[[JournalLines], object] | None = None,
    disk: Disk | None = None,
) -> Journal:
    """Open a journal for writing: a new one, or that of an earlier run, cut to its whole lines.

    `deliver` gets the `done`s of each group and calls them; by default in the journal's thread.
    `on_failure` is called once from there: rows not acknowledged by then never will be.
    `read` goes through the lines that are there while they are verified, so that nobody has to
    read them again. RecordError if the journal is damaged, can't be written, or has another writer.
    """
    disk = disk or LocalDisk()
    with _record_errors(path):
        fd = _open_locked(path)
        try:
            old = _mend_journal(path, fd, disk, read or _verify_lines)
        except BaseException:
            unlock_journal(fd, path)
            raise
    committer = Committer(fd, old, disk, deliver or _call_each, on_failure or _ignore_failure)
    journal = Journal(fd, old, committer, scrubber or Scrubber({}))
    if sys.platform != "win32":
        let_go = weakref.WeakMethod(journal.let_go)
        os.register_at_fork(after_in_child=lambda: (call := let_go()) and call())
    committer.thread.start()
    return journal


def _open_locked(path: str) -> int:
    """The journal, which nobody else writes. One that is packed has no other beside it."""
    # A link would lead to a file that is not the run's: a stranger's record may hold one.
    flags = os.O_RDWR | os.O_APPEND | NO_LINK | BINARY
    if not os.path.exists(path + ENDING):
        flags |= os.O_CREAT
    fd = os.open(path, flags, 0o666)
    try:
        lock_journal(fd, path)
    except BaseException:
        os.close(fd)
        raise
    try:
        if not is_named(fd, path):
            raise RecordError(f"{path} was compressed a moment ago: try again")
        # What is left where compressing was cut off: all of it is here, too.
        with suppress(OSError):
            os.unlink(path + ENDING)
    except BaseException:
        unlock_journal(fd, path)
        raise
    return fd


def _verify_lines(lines: JournalLines) -> None:
    deque(lines, maxlen=0)


def _mend_journal(
    path: str, fd: int, disk: Disk, read: Callable[[JournalLines], object]
) -> JournalLines:
    """Verify every line, cut off a torn last one, and make sure of the rest: what a killed
    writer left may be in memory only."""
    lines = JournalLines(path)
    read(lines)
    if lines.torn is not None:
        disk.truncate(fd, lines.torn.start)
    disk.fsync(fd)
    sync_folder(disk, os.path.dirname(path))
    return lines


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


def _ignore_failure(_: JournalFailure) -> None:
    """Whoever closes the journal will hear of it."""
