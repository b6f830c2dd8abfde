"""The cases of a run that its summary names: those that did not pass, flaky ones, and those
that targets differ on.

Memory grows with these up to limits, and with cases that lack trials; no more with cases that
passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from msgspec import Struct

from evalcase.report.aggregate import Ledger
from evalcase.report.details import Heard, reason_of, result_heard
from evalcase.types.case import Case
from evalcase.types.result import Outcome, Result, Verdict
from evalcase.types.target import TrialKey
from evalcase.types.value import replace

MOST_IN_FULL = 20
"""Cases of one verdict that are shown in full."""
_MOST_HELD = 1000
"""Cases that lack trials, and cases whose verdicts by target are held."""
_MOST_SHAKY = 10
TROUBLED: tuple[Verdict | None, ...] = ("failed", "errored", "ungraded", None)


class Shown(Struct):
    """A case that is shown in full, by one of its trials."""

    result: Result
    """Without its answer, which may be large."""
    heard: Heard
    outcome: Outcome
    same: int = 0
    """Other cases that errored in the same way."""


GridRow = tuple[str, dict[str, Verdict | None]]
"""A case and its verdict at each target; None if it lacks trials."""


class Highlights:
    """Adds results up. `shown` are the verdicts of cases to be shown; None is of undecided ones."""

    def __init__(
        self, shown: Collection[Verdict | None] = TROUBLED, ledger: Ledger | None = None
    ) -> None:
        self.ledger = ledger or Ledger()
        self.shaky: list[tuple[TrialKey, Outcome, str]] = []
        """The first cases that passed although some of their trials did not; and why a trial of
        theirs errored, if one did."""
        self.more: Counter[Verdict | None] = Counter()
        """Cases of a verdict beyond those that are shown."""
        self.kept: list[str] = []
        """The workspaces that were left behind."""
        self._shown: dict[Verdict | None, list[Shown]] = {verdict: [] for verdict in shown}
        self._held: dict[tuple[str, str, str], dict[Verdict, Shown]] = {}
        """Of cases that lack trials: their first trial of each verdict."""
        self._grid: dict[tuple[str, str], tuple[int, dict[str, Verdict | None]]] | None = {}
        """By suite and case, its number and its verdicts by target; None if there are too many."""

    def add(self, result: Result, case: Case | None = None) -> tuple[Outcome, Result] | None:
        """Add a result, with its case if that has tags. Of a case that is decided now, return the
        outcome and the first trial that shows why it is so."""
        outcome = self.ledger.add(result, case)
        if result.workspace is not None and result.workspace.kept is not None:
            self.kept.append(result.workspace.kept)
        if (grid := self._grid) is not None:
            verdicts = grid.setdefault(result.key[:2], (result.number, {}))[1]
            verdicts[result.key.target] = outcome.verdict
            self._grid = grid if len(grid) <= _MOST_HELD else None
        if outcome.repeats > 1:
            return self._add_repeat(outcome, result)
        if outcome.verdict in self._shown:
            self._show(outcome, result)
        return outcome, result

    def shown(self, verdict: Verdict | None) -> list[Shown]:
        shown = self._shown.get(verdict, [])
        return sorted(shown, key=lambda each: (each.result.number, each.result.key.target))

    def finish(self) -> None:
        """No result follows: what is undecided stays so."""
        for held in self._held.values() if None in self._shown else ():
            bad = next((shown for verdict, shown in held.items() if verdict != "passed"), None)
            if bad is not None:
                self._show(bad.outcome, bad.result, bad)

    def differing(self, see_suite: Callable[[str], str] = str) -> list[GridRow]:
        """The cases that targets differ on, in order; none if the run has too many cases."""
        grid = self._grid or {}
        several = len({suite for suite, _ in grid}) > 1
        return [
            (f"{see_suite(suite)}: {case}" if several else case, verdicts)
            for (suite, case), (_, verdicts) in sorted(grid.items(), key=lambda each: each[1][0])
            if len(set(verdicts.values())) > 1
        ]

    def count_sound(self) -> tuple[int, int] | None:
        """Of `run --oracle`: the cases that passed at both targets, of those that were checked;
        None if there are too many."""
        if self._grid is None:
            return None
        checked = [set(said.values()) for _, said in self._grid.values() if said]
        checked = [said for said in checked if said != {"skipped"}]
        return sum(said == {"passed"} for said in checked), len(checked)

    def _add_repeat(self, outcome: Outcome, result: Result) -> tuple[Outcome, Result] | None:
        name = result.key[:3]
        held = self._held.get(name, {})
        if result.verdict not in held:
            held[result.verdict] = _shorten_result(result, outcome)
        for shown in held.values():
            shown.outcome = outcome
        if outcome.verdict is None:
            if len(self._held) < _MOST_HELD:
                self._held[name] = held
            return None
        self._held.pop(name, None)
        if outcome.verdict == "passed" and outcome.passed < outcome.trials:
            why = reason_of(held["errored"].result) if "errored" in held else ""
            self.shaky += [(result.key, outcome, why)] if len(self.shaky) < _MOST_SHAKY else []
        trial = held.get(outcome.verdict) or next(iter(held.values()))
        if outcome.verdict in self._shown:
            self._show(outcome, trial.result, trial)
        return outcome, trial.result

    def _show(self, outcome: Outcome, result: Result, held: Shown | None = None) -> None:
        shown = self._shown[outcome.verdict]
        if outcome.verdict == "errored":
            # A missing key is shown once, not 300 times.
            why = reason_of(result)
            like = next((each for each in shown if reason_of(each.result) == why), None)
            if like is not None:
                like.same += 1
                return
        if len(shown) >= MOST_IN_FULL:
            self.more[outcome.verdict] += 1
            return
        shown.append(held or _shorten_result(result, outcome))


def _shorten_result(result: Result, outcome: Outcome) -> Shown:
    return Shown(replace(result, answer=None), result_heard(result), outcome)
