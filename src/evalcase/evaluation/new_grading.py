"""The grading that begins where results of a run become others when it goes on."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.evaluation.plan import Plan, warn_once
from evalcase.store.index import Index
from evalcase.store.rows import GradingRow, Row


class NewGrading:
    """Stands for one that was broken off, or for one that has to be begun."""

    def __init__(self, plan: Plan, index: Index, note: Callable[[Row], None]) -> None:
        """`note` writes a row."""
        self._plan = plan
        self._note_row = note
        self._tell_once = warn_once(plan.tell)
        self.number = index.gradings
        """Which of its gradings the run stands at."""
        broken = index.find_interrupted(index.gradings)
        self._goes_on = broken is not None and broken.origin == "resume"
        self._is_begun = self._is_noted = False

    @property
    def is_under_way(self) -> bool:
        return self._is_begun or self._goes_on

    def begin(self, why: str) -> None:
        """Tell why results become others. What they were before stays beside it."""
        self._tell_once(why)
        if not self._is_begun:
            self._is_begun = True
            self.number += not self._goes_on

    def note(self) -> None:
        """Note that results become others, when the first of them does."""
        if self._is_begun and not self._is_noted:
            self._is_noted = True
            now, hashes = self._plan.environment.stamp(), self._plan.suites.hashes()
            self._note_row(GradingRow(self.number, now, "resume", hashes))
