"""What became of the cases of a journal: of each result, the verdict of all trials of its case."""

from __future__ import annotations

from evalcase.model.outcome import Folding, Outcome, outcome_of_one
from evalcase.model.result import VERDICTS, Result, Verdict
from evalcase.record.index import Index
from evalcase.system.table import Table, mark_of

_UNDECIDED = -1
_NUMBERS: dict[Verdict | None, int] = {
    None: _UNDECIDED, **{verdict: number for number, verdict in enumerate(VERDICTS)}
}  # fmt: skip


class Outcomes:
    """Finds the outcome of a case by any of its results. Only repeated cases are held."""

    def __init__(self, repeated: Table) -> None:
        """`repeated` holds verdict, trials passed, trials, repeats and pass rate of each."""
        self._repeated = repeated

    def find(self, result: Result) -> Outcome:
        found = self._repeated.find(mark_of(result.key[:3]))
        if found is None:
            return outcome_of_one(result.verdict, result.pass_rate)
        verdict = None if found[0] == _UNDECIDED else VERDICTS[found[0]]
        return Outcome(verdict, *found[1:])


def fold_outcomes(index: Index) -> Outcomes:
    """The outcomes of all cases that a journal's index has."""
    repeated, folding = Table("bIIId"), Folding[int]()
    for each in index.counted():
        if each.repeats > 1:
            outcome = folding.add(each.group, each.verdict, each.repeats, each.pass_rate)
            # Each takes the place of that before it: the last is what counts.
            repeated.add(each.group, _NUMBERS[outcome.verdict], *outcome[1:])
    return Outcomes(repeated)
