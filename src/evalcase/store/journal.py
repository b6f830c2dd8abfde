"""The journal of a run, open for writing. A thread writes all rows that wait, and syncs once: then
they are acknowledged. One process at a time holds the lock.

A RunWriter queues results, and reports those that are on disk. The next trials may start while some
results wait for the disk, so that many share one sync. A crash would lose those, and none of them
was reported.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from queue import SimpleQueue

from evalcase.errors import RecordError
from evalcase.store.index import Tally
from evalcase.store.reader import JournalLines, lock_journal, unlock_journal
from evalcase.store.rows import CaseRow, LostRow, Row
from evalcase.store.scrub import encode_clean
from evalcase.types.answer import Answer, Failure
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.result import Regraded, Result, Totals, Trial
from evalcase.types.value import replace
from evalcase.util.environment import monotonic
from evalcase.util.files import BINARY, NO_LINK, Disk, find_tampering, sync_folder, write_all
from evalcase.util.secrets import Scrubber

Done = Callable[[], None]

REST_S = 0.01
"""How long after a sync lines may wait for others, unless a caller waits for them: a sync takes as
much CPU as three trials."""
_MOST_BYTES = 4 * 1024 * 1024


class Journal:
    """A journal open for writing, made by `open_journal`. The first error ends it: after a failed
    sync the state of the disk is unknown, and a second sync would report success."""

    def __init__(
        self, fd: int, old: JournalLines, disk: Disk, scrubber: Scrubber,
        deliver: Callable[[list[Done]], None], on_failure: Callable[[RecordError], None],
    ) -> None:  # fmt: skip
        self.path = old.path
        self.cut = old.torn
        """The number of the half-written line of an earlier session, which was removed."""
        self.rows = old.count
        """How many rows are on disk, those of earlier sessions included."""
        self.failure: RecordError | None = None
        """Why no more rows are taken; None if all is well."""
        self._fd, self._disk, self.scrubber = fd, disk, scrubber
        self._deliver, self._on_failure = deliver, on_failure
        self._size = old.size
        self._queue: SimpleQueue[tuple[bytes, int, Done] | None] = SimpleQueue()
        """None is the last entry."""
        self._is_awaited = threading.Event()
        """Whether a caller waits until the queued rows are on disk."""
        self._synced_at = -inf
        # A daemon, so that the process can end after a crash elsewhere.
        self._thread = threading.Thread(target=self._write_groups, name="journal", daemon=True)
        self._thread.start()

    def append(self, row: Row, done: Done = lambda: None) -> None:
        """Queue a row. Once it is on disk, `done` is called. Raise ValueError for what can't be
        written as JSON; RecordError if the journal has failed or is closed."""
        self.put(encode_clean(row, self.scrubber.look())[0], done)

    def put(self, lines: bytes, done: Done, count: int = 1) -> None:
        """The same for so many encoded rows: all of them are written, or none."""
        if self.failure is not None:
            raise self.failure
        if self._fd < 0:
            raise RecordError(f"{self.path} is closed")
        self._queue.put((lines, count, done))

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
            raise self.failure

    def release_in_child(self) -> None:
        """In a forked child: a process that outlives this one must not hold the lock."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write_groups(self) -> None:
        try:
            more = True
            while more and self.failure is None:
                entries = [self._queue.get()]
                rest_s = self._synced_at + REST_S - monotonic()
                if rest_s > 0:
                    self._is_awaited.wait(rest_s)
                # Rows that a caller waits for are queued by now, and part of this group.
                self._is_awaited.clear()
                while not self._queue.empty():
                    entries.append(self._queue.get())
                more = entries[-1] is not None
                group = [entry for entry in entries if entry is not None]
                if group:
                    self._commit(group)
        except BaseException as error:
            self.failure = RecordError(f"{self.path} may lack rows: its writer ended: {error!r}")
            raise

    def _commit(self, group: list[tuple[bytes, int, Done]]) -> None:
        data = b"".join([lines for lines, _, _ in group])
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
        meddling = find_tampering(self._fd, self.path, self._size)
        if meddling is not None:
            self.rows = 0
            self._fail(OSError(errno.ESTALE, meddling))
            return
        self.rows += sum([count for _, count, _ in group])
        self._deliver([done for _, _, done in group])

    def _fail(self, error: OSError) -> None:
        what = f"{self.path} can't be written: {error.strerror or error}"
        if error.errno == errno.ESTALE:
            what += ". If a target clears up there, `--runs-dir` keeps records elsewhere"
        else:
            what += f"; safe are the first {self.rows} rows"
        self.failure = RecordError(what)
        self._on_failure(self.failure)


def open_journal(
    path: str, *, scrubber: Scrubber, deliver: Callable[[list[Done]], None],
    on_failure: Callable[[RecordError], None], read: Callable[[JournalLines], object],
    disk: Disk | None = None,
) -> Journal:  # fmt: skip
    """Open a journal for writing: a new one, or that of an earlier session, cut to its whole lines.

    `deliver` gets the `done`s of each group, in the journal's thread, and calls them. `on_failure`
    is called once from there: rows without acknowledgement will have none. `read` reads the lines
    of earlier sessions while they are verified. RecordError if the journal is damaged, can't be
    written, or has another writer.
    """
    disk = disk or Disk()
    try:
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
            read(old)
            if old.torn is not None:
                disk.truncate(fd, old.size)
            # The rows of a killed writer may be in memory only.
            disk.fsync(fd)
            sync_folder(disk, os.path.dirname(path))
        except BaseException:
            unlock_journal(fd, path)
            raise
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror or error
        raise RecordError(f"{path} can't be written: {why}") from error
    journal = Journal(fd, old, disk, scrubber, deliver, on_failure)
    if sys.platform != "win32":
        release = weakref.WeakMethod(journal.release_in_child)
        os.register_at_fork(after_in_child=lambda: (call := release()) and call())
    return journal


# Results.


def rows_ahead(concurrency: int) -> int:
    """How many results may wait for the disk while the next trials start. None where trials run one
    at a time: then each is on disk before the next can break anything."""
    return min(25 * (concurrency - 1), 250)


class RunWriter:
    """Writes results to a journal, each case once before its first result; counts and reports those
    that are on disk. The journal has to deliver in the thread of the event loop."""

    def __init__(
        self, journal: Journal, tally: Tally, report: Callable[[Result], None], ahead: int, *,
        replaces: bool = False,
    ) -> None:  # fmt: skip
        """`replaces`: results may replace earlier ones. Then only the journal can count."""
        self._journal = journal
        self._tally = tally
        self._report = report
        self._ahead = ahead
        self._replaces = replaces
        self._rows = 0
        """Results that wait for the disk, and their bytes."""
        self._bytes = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._cases = bytearray()
        """Which cases were written, by number."""
        self.taken = 0
        """How many results were queued."""
        self.errored = 0
        """How many of those errored."""

    async def append(self, trial: Trial, result: Result, *, is_graded_again: bool = False) -> None:
        """Queue a result, or a later grading of an answer that is on disk, and wait for room before
        the next trial. If the journal has failed, that never ends: the owner of the journal was
        told, and cancels."""
        self._replaces = self._replaces or is_graded_again
        try:
            self._queue(trial, result, is_graded_again)
        except ValueError as error:
            result = replace(result, verdict="errored")
            if is_graded_again:
                why = Failure("grader", f"the grades can't be recorded: {error}")
                broken = Grade("record", None, False, why.message, failure=why)
                result = replace(result, grades=(broken,))
            else:
                why = Failure("protocol", f"the result can't be recorded: {error}")
                took_s = result.duration_s if 0 <= result.duration_s < inf else 0.0
                result = replace(result, answer=None, grades=(), failure=why, duration_s=took_s)
            self._queue(trial, result, is_graded_again)
        if self._journal.failure is not None:
            await asyncio.Event().wait()
        while self._rows > self._ahead or self._bytes >= _MOST_BYTES:
            room = asyncio.get_running_loop().create_future()
            self._waiting.append(room)
            await room

    def note(self, row: Row) -> None:
        self._journal.append(row)

    async def write(self, row: Row) -> None:
        """Write a row, and return once it is on disk. If the journal fails, that is never."""
        safe = asyncio.Event()
        self._journal.append(row, safe.set)
        self._journal.hurry()
        await safe.wait()

    def lose(self, trial: Trial, spent_usd: float) -> None:
        """Note money that was spent on a trial, and bought no answer that counts."""
        self.note(LostRow(trial.key, spent_usd))
        self._tally.lose(spent_usd)

    def totals(self) -> Totals | None:
        """The totals of the run; None if only the journal can count."""
        return None if self._replaces and self.taken else self._tally.totals()

    def _queue(self, trial: Trial, result: Result, is_graded_again: bool) -> None:
        secrets, number = self._journal.scrubber.look(), trial.number
        # What is reported has no secrets either.
        if is_graded_again:
            row = Regraded(
                result.key, result.verdict, result.grading_hash, result.grading, result.grades,
                result.pass_rate, result.repeats,
            )  # fmt: skip
            lines, row = encode_clean(row, secrets)
            result = replace(result, grades=row.grades)
        else:
            lines, result = encode_clean(result, secrets)
        if number >= len(self._cases):
            self._cases.extend(bytes(number + 1024 - len(self._cases)))
        is_first = not self._cases[number]
        if is_first:
            case = CaseRow(trial.suite, result.key.case, trial.case._data)
            lines = encode_clean(case, secrets)[0] + lines
        size = len(lines)
        try:
            self._journal.put(lines, partial(self._stored, result, size), 1 + is_first)
        except RecordError:
            if self._journal.failure is None:
                raise
            return  # the result is lost, and the run ends
        self._cases[number] = 1
        self.taken += 1
        self.errored += result.verdict == "errored"
        self._rows += 1
        self._bytes += size
        if 2 * self._rows >= self._ahead or 2 * self._bytes >= _MOST_BYTES:
            self._journal.hurry()  # so that there is room again before all is taken

    def _stored(self, result: Result, size: int) -> None:
        self._rows -= 1
        self._bytes -= size
        while self._waiting:
            waiting = self._waiting.pop()
            if not waiting.done():
                waiting.set_result(None)
        self._tally.add(result)
        self._report(result)


class TooLargeError(ValueError):
    """Data can't be cut and stay data. `excerpt` is its start."""

    def __init__(self, size: int, limit: int, excerpt: str) -> None:
        super().__init__(f"the answer has data of {size:,} bytes, and {limit:,} are kept at most")
        self.excerpt = excerpt


def cap_answer(answer: Answer, limit: int) -> Answer:
    """An answer whose messages have at most `limit` bytes each, marked where a text was cut. Raise
    TooLargeError if something else than a text is too long."""
    for message in answer.messages:
        if _cap_message(message, limit) is not message:
            messages = tuple([_cap_message(each, limit) for each in answer.messages])
            return replace(answer, messages=messages, truncated=True)
    return answer


def _cap_message(message: Message, limit: int) -> Message:
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    if len(message) > 2 or not isinstance(content, str):
        rest = {key: value for key, value in message.items() if key != "content" or not text}
        data = json.dumps(rest, ensure_ascii=False)
        if cap_text(data, limit)[1]:
            size = len(data.encode("utf-8", "surrogatepass"))
            raise TooLargeError(size, limit, data[:1000])
    capped, cut = cap_text(text, limit)
    return Message({**message, "content": capped}) if cut else message


def cap_text(text: str, limit: int) -> tuple[str, bool]:
    """The first `limit` bytes of a text as UTF-8, cut between characters, with a mark that says how
    many more there were; and whether anything was cut."""
    if len(text) * 4 <= limit:  # no character takes more
        return text, False
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text, False
    end = max(limit, 0)
    while end and data[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    kept = data[:end].decode("utf-8", "surrogatepass")
    return f"{kept}\n[{len(data) - end:,} more bytes were cut]", True
