"""Group commit: a thread takes all lines that wait, writes them at once and syncs once, so that
the trials that finished during one sync, and shortly after it, share the next."""

from __future__ import annotations

import contextlib
import errno
import threading
from collections.abc import Callable
from math import inf
from queue import SimpleQueue
from typing import Any

from evalcase.model.value import Value
from evalcase.record.lines import JournalLines
from evalcase.system.clock import monotonic
from evalcase.system.disk import Disk, find_meddling, write_all
from evalcase.system.packed import ENDING, pack_lines
from evalcase.text.journal_row import decode_row

Done = Callable[[], None]
PendingRow = tuple[bytes, Done]

GROUP = 4 * 1024 * 1024
"""Bytes after which a group is written, even if more lines wait."""
REST_S = 0.005
"""How long after a sync lines may wait for others that come by then, unless somebody waits for
them. A sync takes as much of the processor as three trials, and a quick disk would have one for
each few of them."""


class JournalFailure(Value, frozen=True):
    """Why a journal takes no more rows, and what is safe."""

    path: str
    error: OSError
    rows: int
    """How many rows are known to be on disk, those of earlier writers included."""
    last: dict[str, Any] | None
    """The last of them."""

    def __str__(self) -> str:
        what = f"{self.path} can't be written: {self.error.strerror or self.error}"
        if self.error.errno == errno.ESTALE:
            return f"{what}. If a target clears up there, `--runs-dir` keeps records elsewhere"
        if self.last is None:
            return f"{what}; no row is safe"
        row = self.last.get("case", self.last["type"])
        return f"{what}; safe are the first {self.rows} rows, the last of them {row!r}"


class Committer:
    """The one writer of an open file. The first error ends it for good: after a failed sync
    nobody knows what is on disk, and a second one would say that all is well."""

    def __init__(
        self,
        fd: int,
        old: JournalLines,
        disk: Disk,
        deliver: Callable[[list[Done]], None],
        on_failure: Callable[[JournalFailure], None],
    ) -> None:
        self.rows = old.count
        self.failure: JournalFailure | None = None
        self.finished = False
        """Whether the thread has come to its end, and not been ended by an exception."""
        self.is_over = False
        """Whether it has ended, one way or the other: what is queued now is written by nobody."""
        self.queue: SimpleQueue[PendingRow | None] = SimpleQueue()
        """None is the last entry."""
        self._is_awaited = threading.Event()
        """Whether somebody goes on only when what is queued is on disk."""
        self._synced_at = -inf
        self._path, self._fd, self._disk = old.path, fd, disk
        self._deliver, self._on_failure = deliver, on_failure
        self._size, self._last = old.end, old.last
        self._is_packed = old.path.endswith(ENDING)
        # A daemon, so that a crash elsewhere does not become a process that never ends.
        self.thread = threading.Thread(target=self._work, name="journal", daemon=True)

    def _work(self) -> None:
        try:
            more = True
            while more and self.failure is None:
                group, more = self._take()
                if group:
                    self._commit(group)
            self.finished = True
        finally:
            self.is_over = True

    def _take(self) -> tuple[list[PendingRow], bool]:
        """All that waits, at least one entry; and whether more may come."""
        group: list[PendingRow] = []
        size = 0
        while size < GROUP and (not group or not self.queue.empty()):
            entry = self.queue.get()
            if entry is None:
                return group, False
            if not group:
                self._let_more_come()
            group.append(entry)
            size += len(entry[0])
        return group, True

    def _let_more_come(self) -> None:
        rest_s = self._synced_at + REST_S - monotonic()
        if rest_s > 0:
            self._is_awaited.wait(rest_s)
        # What it was said of is queued by now, and part of the next group.
        self._is_awaited.clear()

    def hurry(self) -> None:
        """Have what is queued written at once, because somebody waits for it."""
        if not self._is_awaited.is_set():  # it costs less to look than to tell once more
            self._is_awaited.set()

    def _commit(self, group: list[PendingRow]) -> None:
        data = b"".join([line for line, _ in group])
        stored = pack_lines(data, added=True) if self._is_packed else data
        try:
            write_all(self._disk, self._fd, stored)
        except OSError as error:
            # Whole lines that made it to the file may stay: the next writer syncs them first.
            self._fail(error)
            return
        try:
            self._disk.fsync(self._fd)
        except OSError as error:
            # What can be read now may be gone later, so it must not look finished.
            with contextlib.suppress(OSError):
                self._disk.truncate(self._fd, self._size)
            self._fail(error)
            return
        self._synced_at = monotonic()
        self._size += len(stored)
        # An agent may clear up the folder it works in: what is gone was never safe.
        meddling = find_meddling(self._fd, self._path, self._size)
        if meddling is not None:
            self.rows, self._last = 0, b""
            self._fail(OSError(errno.ESTALE, meddling))
            return
        self._last = group[-1][0]
        self.rows += data.count(b"\n")
        self._deliver([done for _, done in group])

    def _fail(self, error: OSError) -> None:
        line = self._last[self._last.rfind(b"\n", 0, -1) + 1 :]
        last = decode_row(line) if line else None
        self.failure = JournalFailure(self._path, error, self.rows, last)
        self._on_failure(self.failure)
