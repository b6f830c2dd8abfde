"""Results in, and out again once they are on disk: what stands between engine and journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from evalcase.errors import RecordError
from evalcase.model.codec import decode, encode
from evalcase.model.failure import Failure
from evalcase.model.result import Result
from evalcase.record.journal import Journal
from evalcase.text.secrets import Scrubber

_MOST_BYTES = 4 * 1024 * 1024


def rows_ahead(concurrency: int) -> int:
    """How many results may be on their way to the disk while the next trials begin.

    None where trials run one at a time: then each is safe before the next one can break anything.
    """
    return min(10 * (concurrency - 1), 100)


class Keeper:
    """Gives results to a journal, and shows those that are on disk.

    The next trial may begin while `ahead` results are on their way there, so that many share one
    sync. They are what a crash would lose. The journal has to deliver in the thread of the event
    loop.
    """

    def __init__(
        self,
        journal: Journal,
        show: Callable[[Result], None],
        ahead: int,
        scrubber: Scrubber | None = None,
    ) -> None:
        self._journal = journal
        self._show = show
        self._ahead = ahead
        self._scrubber = scrubber
        self._rows = 0
        self._bytes = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def keep(self, result: Result) -> None:
        """Take a result, and return when there is room for another.

        Once the journal has failed this never returns: who opened it was told, and cancels.
        """
        try:
            self._append(result)
        except ValueError as error:
            # What can't be written down is no answer that anyone could look at later.
            why = Failure("protocol", f"the result can't be recorded: {error}")
            self._append(replace(result, verdict="errored", answer=None, grades=(), failure=why))
        except RecordError:
            if self._journal.failure is None:
                raise
            await asyncio.Event().wait()
        # Others get their turn, also where neither target nor grader had to be waited for.
        await asyncio.sleep(0)
        while self._rows > self._ahead or self._bytes >= _MOST_BYTES:
            self._waiting.append(asyncio.get_running_loop().create_future())
            await self._waiting[-1]

    def _append(self, result: Result) -> None:
        row = {"type": "result", **encode(result)}
        size = self._journal.append(row, lambda: self._is_safe(result, size))
        self._rows += 1
        self._bytes += size

    def _is_safe(self, result: Result, size: int) -> None:
        self._rows -= 1
        self._bytes -= size
        while self._waiting:
            waiting = self._waiting.pop()
            if not waiting.done():
                waiting.set_result(None)
        if self._scrubber is not None:
            # What is shown is what was written: without the secrets.
            result = decode(Result, self._scrubber.row(encode(result)))
        self._show(result)
