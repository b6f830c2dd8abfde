"""What follows a run while it goes on: in silence here; `live` and `sparse` show something."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from evalcase.report.terminal.progress import Progress
from evalcase.types.case import Case
from evalcase.types.question import TrialKey
from evalcase.types.result import Result, Trial
from evalcase.util.text import make_visible

if TYPE_CHECKING:
    from evalcase.report.terminal.statistics import DecidedCase, Statistics

MOST_LINES = 100
"""Failures that are named while it runs. Whoever has more reads the summary, or the record."""


class RunView:
    """Counts, and shows nothing. It is told everything in the thread of the event loop."""

    is_live = False
    """Whether it draws on a terminal, which has to be left as it was."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.name_target = False
        self.notice = ""
        """A word on what else is going on."""
        self._named = 0
        self._tagged: dict[TrialKey, Case] = {}
        """The cases that are under way, as far as they have tags: results don't say."""

    @cached_property
    def statistics(self) -> Statistics:
        """Of what it was told of; trials that were finished before are not among them."""
        from evalcase.report.aggregate import Ledger
        from evalcase.report.terminal.statistics import Statistics

        return Statistics(ledger=Ledger(several_targets=self.name_target))

    def expect(self, trials: Mapping[str, int]) -> None:
        """How many trials there are of each target."""
        self.progress.planned = sum(trials.values())
        self.name_target = len(trials) > 1

    def resumed(self, finished: int) -> None:
        """So many of the trials were finished before."""
        self.progress.planned = max(0, self.progress.planned - finished)

    def begin(self) -> None:
        """The run starts."""

    def started(self, trial: Trial) -> None:
        self.progress.start()
        if "tags" in trial.case._data:
            self._tagged[trial.key] = trial.case

    def finished(self, result: Result) -> None:
        case = self._tagged.pop(result.key, None) if self._tagged else None
        decided = self.statistics.add(result, case)
        self.progress.finish(result, decided and decided.outcome.verdict)
        if decided is None or decided.outcome.verdict not in ("failed", "errored"):
            return
        self._named += 1
        if self._named <= MOST_LINES:
            self.name(decided)
        elif self._named == MOST_LINES + 1:
            self.say("further failures are only counted here; the record has all of them")

    def name(self, decided: DecidedCase) -> None:
        """Say that a case failed or errored."""

    def say(self, line: str) -> None:
        """Say something that is worth a line of its own."""

    def tell(self, text: str) -> None:
        """Say what may hold names and texts of anybody."""
        self.say(make_visible(text))

    def warn(self, text: str) -> None:
        """The same, of what may not be meant."""
        self.tell(f"warning: {text}")

    def close(self) -> None:
        """The run has ended, one way or the other. It may be called twice."""


class Ticker:
    """Calls something again and again in a thread of its own, also while the event loop is busy."""

    def __init__(self, action: Callable[[], None], period_s: float) -> None:
        self._action = action
        self._period_s = period_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="evalcase-view", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Return when it has stopped, unless it hangs."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def _tick(self) -> None:
        while not self._stopped.wait(self._period_s):
            self._action()
