"""What comes of a run, for who asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalcase.model.result import Result
from evalcase.model.totals import Totals
from evalcase.record.folder import Run
from evalcase.record.reader import read_results

Status = Literal["completed", "interrupted", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came of a run. Everything else is in its record."""

    run: Run
    status: Status
    """`completed` only if every trial that was planned has a result."""
    totals: Totals
    notice: str | None = None
    """Why it ended early, in words."""
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
        """The share of cases that passed, of all that were tried; None if none was."""
        return self.totals.pass_rate

    @property
    def ok(self) -> bool:
        """Whether all is well: complete, with no case failed, errored or ungraded."""
        cases = self.totals.cases
        bad = cases.failed + cases.errored + cases.ungraded
        return self.complete and not bad and not self.totals.unfinished
