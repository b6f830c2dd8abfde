"""A run while it is written: results are queued for the journal, and reported once they are on
disk.

The next trials may start while some results wait for the disk, so that many share one sync. A crash
would lose those, and none of them was reported.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf

from evalcase.errors import RecordError
from evalcase.store.index import Tally
from evalcase.store.journal import Journal
from evalcase.store.rows import CaseRow, LostRow, Row, write_row
from evalcase.types.answer import Answer, Failure
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.result import Regraded, Result, Totals, Trial
from evalcase.types.value import replace
from evalcase.util.environment import monotonic

_MOST_BYTES = 4 * 1024 * 1024
_TURN_S = 0.001
"""How long trials that wait for nothing keep the event loop to themselves."""


def rows_ahead(concurrency: int) -> int:
    """How many results may wait for the disk while the next trials start. None where trials run one
    at a time: then each is on disk before the next can break anything."""
    return min(10 * (concurrency - 1), 100)


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
        self._turned_at = 0.0
        """When the event loop last came round to a result."""
        self._is_watched = False
        """Whether its next turn is noticed."""
        self._cases = bytearray()
        """Which cases were written, by number."""
        self.taken = 0
        """How many results were queued."""
        self.errored = 0
        """How many of those errored."""

    def append(self, trial: Trial, result: Result) -> Awaitable[None] | None:
        """Queue a result. The caller waits for the returned awaitable before the next trial. If the
        journal has failed, it never ends: the owner of the journal was told, and cancels."""
        try:
            return self._queue(trial, result, result)
        except ValueError as error:
            why = Failure("protocol", f"the result can't be recorded: {error}")
            took_s = result.duration_s if 0 <= result.duration_s < inf else 0.0
            result = replace(
                result, verdict="errored", answer=None, grades=(), failure=why, duration_s=took_s
            )
            trial = trial._replace(case=_make_stub(trial, error))
            return self._queue(trial, result, result)

    def append_grading(self, trial: Trial, result: Result) -> Awaitable[None] | None:
        """The same for a later grading of an answer that is on disk."""
        self._replaces = True
        try:
            return self._queue(trial, result, _without_answer(result))
        except ValueError as error:
            why = Failure("grader", f"the grades can't be recorded: {error}")
            broken = Grade("record", None, False, why.message, failure=why)
            result = replace(result, verdict="errored", grades=(broken,))
            return self._queue(trial, result, _without_answer(result))

    def note(self, row: Row) -> None:
        """Queue a row that no caller waits for."""
        self._journal.append(row, lambda: None)

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

    def _queue(
        self, trial: Trial, result: Result, row: Result | Regraded
    ) -> Awaitable[None] | None:
        lines, clean = self._journal.encode(row)
        number = trial.number
        if number >= len(self._cases):
            self._cases.extend(bytes(number + 1024 - len(self._cases)))
        if not self._cases[number]:
            lines = self._journal.encode(CaseRow.of(trial.suite, trial.case))[0] + lines
        if clean is not row:  # what is reported has no secrets either
            result = _as_written(result, clean)
        size = len(lines)
        try:
            self._journal.put(lines, partial(self._stored, result, size))
        except RecordError:
            if self._journal.failure is None:
                raise
            return asyncio.Event().wait()  # type: ignore[return-value]
        self._cases[number] = 1
        self.taken += 1
        self.errored += result.verdict == "errored"
        self._rows += 1
        self._bytes += size
        if 2 * self._rows >= self._ahead or 2 * self._bytes >= _MOST_BYTES:
            self._journal.hurry()  # so that there is room again before all is taken
        must_turn = self._must_turn()
        return self._let_others(must_turn) if must_turn or self._is_full else None

    def _must_turn(self) -> bool:
        """Whether other tasks must run now, where neither target nor grader had to wait. To switch
        for each of many fast trials would cost as much as the trials."""
        now = monotonic()
        if not self._is_watched:
            # The first result of this turn: others ran just now.
            self._is_watched, self._turned_at = True, now
            asyncio.get_running_loop().call_soon(self._notice_turn)
        return now - self._turned_at > _TURN_S

    def _notice_turn(self) -> None:
        self._is_watched = False

    @property
    def _is_full(self) -> bool:
        return self._rows > self._ahead or self._bytes >= _MOST_BYTES

    async def _let_others(self, must_turn: bool) -> None:
        if must_turn:
            await asyncio.sleep(0)
            self._turned_at = monotonic()
        while self._is_full:
            self._waiting.append(asyncio.get_running_loop().create_future())
            await self._waiting[-1]

    def _stored(self, result: Result, size: int) -> None:
        self._rows -= 1
        self._bytes -= size
        while self._waiting:
            waiting = self._waiting.pop()
            if not waiting.done():
                waiting.set_result(None)
        self._tally.add(result)
        self._report(result)


def _without_answer(result: Result) -> Regraded:
    return Regraded(
        result.key, result.verdict, result.grading_hash, result.grading, result.grades,
        result.pass_rate, result.repeats,
    )  # fmt: skip


def _as_written(result: Result, clean: Row) -> Result:
    if isinstance(clean, Result):
        return clean
    assert isinstance(clean, Regraded)
    return replace(result, grades=clean.grades)


def _make_stub(trial: Trial, error: ValueError) -> Case:
    """The case; or a note in its place, if the case itself can't be written."""
    try:
        write_row(CaseRow.of(trial.suite, trial.case))
    except ValueError:
        said = f"[the case can't be recorded: {error}]"
        return canonical_case({"id": trial.case.id, "input": [{"role": "user", "content": said}]})
    return trial.case


class TooLargeError(ValueError):
    """Data can't be cut and stay data. `excerpt` is its start."""

    def __init__(self, size: int, limit: int, excerpt: str) -> None:
        super().__init__(f"the answer has data of {size:,} bytes, and {limit:,} are kept at most")
        self.excerpt = excerpt


def cap_answer(answer: Answer, limit: int) -> Answer:
    """An answer whose messages have at most `limit` bytes each, marked where a text was cut. Raise
    TooLargeError if something else than a text is too long."""
    messages = tuple([_cap_message(message, limit) for message in answer.messages])
    if all(new is old for new, old in zip(messages, answer.messages, strict=True)):
        return answer
    return replace(answer, messages=messages, truncated=True)


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
