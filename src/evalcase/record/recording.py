"""A run while it is written: results in, and out again once they are on disk, and counted.

The next trial may begin while some results are on their way to the disk, so that many share one
sync. They are what a crash would lose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from typing import Any

from evalcase.errors import RecordError
from evalcase.model.case import Case, canonical_case
from evalcase.model.codec import decode_object
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.result import Regraded, Result
from evalcase.model.totals import Totals
from evalcase.model.trial import Trial
from evalcase.model.value import replace
from evalcase.record.cases import case_row
from evalcase.record.journal import Journal
from evalcase.record.outline import lost_row
from evalcase.record.tally import Tally
from evalcase.record.trial_rows import write_case, write_outcome
from evalcase.system.clock import perf_counter
from evalcase.text.journal_row import encode_row

_MOST_BYTES = 4 * 1024 * 1024
_TURN_S = 0.001
"""How long trials that wait for nothing keep the event loop to themselves."""


def rows_ahead(concurrency: int) -> int:
    """How many results may be on their way to the disk while the next trials begin.

    None where trials run one at a time: then each is safe before the next one can break anything.
    """
    return min(10 * (concurrency - 1), 100)


class Recording:
    """Gives results to a journal, each case once before its first; shows and counts what is safe.

    The journal has to deliver in the thread of the event loop.
    """

    def __init__(
        self,
        journal: Journal,
        tally: Tally,
        show: Callable[[Result], None],
        ahead: int,
        *,
        replaces: bool = False,
    ) -> None:
        """`replaces` says that results may take the place of earlier ones."""
        self._journal = journal
        self._tally = tally
        self._show = show
        self._ahead = ahead
        self._rows = 0
        self._bytes = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._turned_at = 0.0
        """When the event loop last came round to a result."""
        self._is_watched = False
        """Whether its next turn will be seen."""
        self._cases = bytearray()
        """Which cases have been written, by their numbers."""
        self.taken = 0
        """How many results were taken: they are safe once the journal could be closed."""
        self.errored = 0
        """How many of those had errored."""
        self._replaces = replaces
        """Whether a result took the place of an earlier one: then only the journal can count."""

    def keep(self, trial: Trial, result: Result) -> Awaitable[None] | None:
        """Take a result. What is returned is to be waited for before there is another.

        Once the journal has failed that never ends: who opened it was told, and cancels.
        """
        try:
            return self._take(trial, result, result)
        except ValueError as error:
            # What can't be written down is no answer that anyone could look at later.
            why = Failure("protocol", f"the result can't be recorded: {error}")
            took_s = result.duration_s if 0 <= result.duration_s < inf else 0.0
            result = replace(
                result, verdict="errored", answer=None, grades=(), failure=why, duration_s=took_s
            )
            trial = trial._replace(case=_make_stub(trial.case, error))
            return self._take(trial, result, result)

    def keep_grading(self, trial: Trial, result: Result) -> Awaitable[None] | None:
        """Take what became of an answer that is on disk already."""
        self._replaces = True
        try:
            return self._take(trial, result, _leave_answer(result))
        except ValueError as error:
            why = Failure("grader", f"the grades can't be recorded: {error}")
            broken = Grade("record", None, False, why.message, failure=why)
            result = replace(result, verdict="errored", grades=(broken,))
            return self._take(trial, result, _leave_answer(result))

    def note(self, row: dict[str, Any]) -> None:
        """Write a row that nobody waits for."""
        self._journal.append(row, _ignore_commit)

    async def write(self, row: dict[str, Any]) -> None:
        """Write a row, and return once it is on disk. If the journal fails, that is never."""
        safe = asyncio.Event()
        self._journal.append(row, safe.set)  # it is called in the thread of the event loop
        self._journal.hurry()
        await safe.wait()

    def lose(self, trial: Trial, spent_usd: float) -> None:
        """Note what was spent on a trial, and bought no answer that counts."""
        self.note(lost_row(trial.key, spent_usd))
        self._tally.lose([spent_usd])

    def totals(self) -> Totals | None:
        """What all comes to; None if only the journal can say."""
        return None if self._replaces and self.taken else self._tally.totals()

    def _take(
        self, trial: Trial, result: Result, kept: Result | Regraded
    ) -> Awaitable[None] | None:
        secrets = self._journal.secrets()
        lines, clean = write_outcome(kept, secrets)
        number = trial.number
        if self._is_new(number):
            lines = write_case(trial.suite, trial.case, secrets) + lines
        # What is shown is what is written: without the secrets.
        shown = result if clean is None else _as_written(result, clean)
        size = len(lines)
        try:
            self._journal.put(lines, partial(self._is_safe, shown, size))
        except RecordError:
            if self._journal.failure is None:
                raise
            return _wait_for_ever()
        self._cases[number] = 1
        self.taken += 1
        self.errored += result.verdict == "errored"
        self._rows += 1
        self._bytes += size
        if 2 * self._rows >= self._ahead or 2 * self._bytes >= _MOST_BYTES:
            self._journal.hurry()  # so that there is room again before all of it is taken
        must_turn = self._must_turn()
        if must_turn or self._is_full:
            return self._let_others(must_turn)
        return None

    def _must_turn(self) -> bool:
        """Others get their turn, also where neither target nor grader had to be waited for; but to
        change turns for each of many quick trials would cost as much as the trials."""
        now = perf_counter()
        if not self._is_watched:
            # The first result of this turn: others had theirs just now.
            self._is_watched, self._turned_at = True, now
            asyncio.get_running_loop().call_soon(self._see_turn)
        return now - self._turned_at > _TURN_S

    def _see_turn(self) -> None:
        self._is_watched = False

    @property
    def _is_full(self) -> bool:
        return self._rows > self._ahead or self._bytes >= _MOST_BYTES

    async def _let_others(self, must_turn: bool) -> None:
        if must_turn:
            await asyncio.sleep(0)
            self._turned_at = perf_counter()
        while self._is_full:
            self._waiting.append(asyncio.get_running_loop().create_future())
            await self._waiting[-1]

    def _is_new(self, number: int) -> bool:
        """Whether a case has not been written yet."""
        missing = number + 1 - len(self._cases)
        if missing > 0:
            self._cases.extend(bytes(missing + 1024))
        return not self._cases[number]

    def _is_safe(self, result: Result, size: int) -> None:
        self._rows -= 1
        self._bytes -= size
        while self._waiting:
            waiting = self._waiting.pop()
            if not waiting.done():
                waiting.set_result(None)
        self._tally.add(result)
        self._show(result)


def _leave_answer(result: Result) -> Regraded:
    """What is new of a result whose answer is on disk already."""
    return Regraded(
        result.key, result.verdict, result.grading_hash, result.grading, result.grades,
        result.pass_rate, result.repeats,
    )  # fmt: skip


def _as_written(result: Result, row: dict[str, Any]) -> Result:
    fields = {name: value for name, value in row.items() if name != "type"}
    if row["type"] == "result":
        return decode_object(Result, fields)
    return replace(result, grades=decode_object(Regraded, fields).grades)


def _make_stub(case: Case, error: ValueError) -> Case:
    """What is kept of a case that may be what can't be kept."""
    try:
        encode_row(case_row("", case))
    except ValueError:
        said = f"[the case can't be recorded: {error}]"
        return canonical_case({"id": case.id, "input": [{"role": "user", "content": said}]})
    return case


def _ignore_commit() -> None:
    """Nobody waits."""


async def _wait_for_ever() -> None:
    await asyncio.Event().wait()
