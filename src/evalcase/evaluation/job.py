"""What a run has to do: have its trials answered and graded, or its answers graded once more."""

from __future__ import annotations

from typing import Protocol

from evalcase.runner.schedule import Engine
from evalcase.store.rows import End, Status
from evalcase.types.result import Totals


class Job(Protocol):
    """All that is left to do, whatever it is."""

    @property
    def grading(self) -> int:
        """Which of its gradings the run stands at."""
        ...

    async def go(self, engine: Engine) -> tuple[Status, str | None]:
        """Do all of it. Return how it ended, and why if it ended early."""
        ...

    def complete_end(self, end: End) -> End:
        """The same end, with what is known here of how far it came."""
        ...

    def totals(self) -> Totals | None:
        """What all comes to; None if only the journal can say."""
        ...

    def mixed(self) -> tuple[str, ...]:
        """The targets that were changed while there were answers of theirs that still count."""
        ...
