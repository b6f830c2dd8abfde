"""Two sides that are compared in, rows of the page out: every case of head with that of base beside
it, then those that only base has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.report.compare.comparison import Comparison, tell_kind
from evalcase.report.compare.side import PlacedName, Side
from evalcase.report.compare.unit import CaseStanding, Unit
from evalcase.report.figures.ledger import Ledger
from evalcase.report.files.folded import CaseTrials, fold_trials
from evalcase.report.page.subject import BaseRow, CaseRow
from evalcase.types.question import TrialKey
from evalcase.types.result import Result


class _BasePlace(NamedTuple):
    """Where the trials of a case of base are found."""

    suite: str
    """As base names it."""
    repeats: tuple[int, ...]


class PairedRows(Struct):
    """Goes through both sides once, and adds up each on the way."""

    comparison: Comparison
    base: Ledger = field(default_factory=Ledger)
    head: Ledger = field(default_factory=Ledger)
    trials: int = 0
    """Of head."""

    def __iter__(self) -> Iterator[CaseRow]:
        sides = self.comparison
        targets = {track.head_target: track.base_target for track in sides.tracks}
        places = dict(self._read_base(targets))
        met: set[tuple[PlacedName, str]] = set()
        for folded in _fold_side(sides.head, targets):
            name = PlacedName(
                sides.head.place_of(folded.suite), folded.case, targets[folded.target]
            )
            met.add((name, folded.target))
            yield self._pair(folded, name, places.get(name))
        for head_target, base_target in targets.items():
            for name, place in places.items():
                if name.target == base_target and (name, head_target) not in met:
                    yield self._removed(name, place, head_target)

    def _read_base(self, targets: Mapping[str, str]) -> Iterator[tuple[PlacedName, _BasePlace]]:
        side = self.comparison.base
        for folded in _fold_side(side, frozenset(targets.values())):
            case = side.kept.find_case(folded.suite, folded.case)
            for result in folded.trials:
                self.base.add(result, case)
            repeats = tuple(result.key.repeat for result in folded.trials)
            name = PlacedName(side.place_of(folded.suite), folded.case, folded.target)
            yield name, _BasePlace(folded.suite, repeats)

    def _pair(self, folded: CaseTrials, name: PlacedName, place: _BasePlace | None) -> CaseRow:
        case = self.comparison.head.kept.find_case(folded.suite, folded.case)
        self.trials += len(folded.trials)
        for result in folded.trials:
            self.head.add(result, case)
        base = None
        if place is not None and (results := self._find_base(name, place)):
            outcome = self.comparison.base.kept.outcome(results[0])
            before = _make_standing(name, results, self.comparison.base)
            kind = tell_kind(before, _make_standing(name, folded.trials, self.comparison.head))
            base = BaseRow(name.target, outcome, results, kind)
        return CaseRow(
            folded.suite, folded.case, folded.target, case, folded.outcome, folded.trials,
            base=base,
            alone="not selected" if "added" in self.comparison.unselected else "added",
        )  # fmt: skip

    def _removed(self, name: PlacedName, place: _BasePlace, head_target: str) -> CaseRow:
        kept, results = self.comparison.base.kept, self._find_base(name, place)
        change = "not selected" if "removed" in self.comparison.unselected else "removed"
        base = BaseRow(name.target, kept.outcome(results[0]), results, change)
        case = kept.find_case(place.suite, name.case)
        return CaseRow(place.suite, name.case, head_target, case, None, base=base)

    def _find_base(self, name: PlacedName, place: _BasePlace) -> tuple[Result, ...]:
        kept = self.comparison.base.kept
        keys = (TrialKey(place.suite, name.case, name.target, each) for each in place.repeats)
        return tuple(found for key in keys if (found := kept.find_result(key)) is not None)


def _fold_side(side: Side, targets: Mapping[str, str] | frozenset[str]) -> Iterator[CaseTrials]:
    wanted = (result for result in side.kept.results() if result.key.target in targets)
    return fold_trials(wanted, side.kept.outcome)


def _make_standing(name: PlacedName, results: tuple[Result, ...], side: Side) -> CaseStanding:
    outcome = side.kept.outcome(results[0])
    unit = Unit(name, results[0], outcome.verdict, repeats=outcome.repeats)
    for result in results:
        unit.add(result)
    return unit.standing()
