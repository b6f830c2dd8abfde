"""What comes of a run, for who asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalcase.model.result import Result
from evalcase.record.folder import Run
from evalcase.record.reader import read_results
from evalcase.record.totals import Totals

Status = Literal["completed", "interrupted", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came of a run. Everything else is in its record."""

    run: Run
    status: Status
    totals: Totals
    notice: str | None = None
    """Why it ended early, in words."""
    forgiven: int = 0
    """Failed trials of cases that passed all the same, since `repeat` asks for a share only."""
    failed_fast: bool = False
    """Whether it ended early because it was told to, at the first case that did not pass."""

    @property
    def complete(self) -> bool:
        return self.status == "completed"

    @property
    def path(self) -> str:
        """The folder of the record."""
        return self.run.path

    @property
    def results(self) -> Iterator[Result]:
        """Every result, read from the record, in the order in which the trials finished."""
        return read_results(self.run.journal)

    @property
    def pass_rate(self) -> float | None:
        """The share that passed of all that was tried; None if nothing was."""
        return self.totals.pass_rate

    @property
    def ok(self) -> bool:
        """Whether all is well: complete, with nothing failed, errored or ungraded."""
        bad = self.totals.failed - self.forgiven + self.totals.errored + self.totals.ungraded
        return self.complete and not bad
