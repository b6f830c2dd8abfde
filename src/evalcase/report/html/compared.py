"""Two runs side by side on one page: every case of head beside that of base, and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from evalcase.report.aggregate import Ledger, sum_up
from evalcase.report.cases import CaseTrials, fold_trials
from evalcase.report.compare import Comparison, tell_kind
from evalcase.report.differences import Amount, Measured, say_ratio, say_seconds
from evalcase.report.findings import (
    Power,
    choose_parts,
    find_power,
    say_counts,
    say_folded,
    say_power,
    say_result,
    say_test,
)
from evalcase.report.gates import Compared
from evalcase.report.html.details import BaseRow, CaseRow, PageObject
from evalcase.report.html.page import PageWriter
from evalcase.report.json import figures_object
from evalcase.report.paired_cases import CaseStanding, PlacedName, Side, TrackFigures, Unit
from evalcase.types.question import TrialKey
from evalcase.types.result import Result
from evalcase.types.value import replace
from evalcase.util.table import Table, mark_of


class PairedRows:
    """Goes through both sides and adds up each. Of base it holds a few numbers a case."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.base, self.head = Ledger(), Ledger()
        self._suites: dict[str, str] = {}
        """How base names each suite, by its place in the project."""
        self._known = Table("IQ")
        """Of each case of base: its last repeat, and a bit for each track that has it in head."""

    def __iter__(self) -> Iterator[CaseRow]:
        base, head = self.comparison.base, self.comparison.head
        targets = {track.head_target: track.base_target for track in self.comparison.tracks}
        bits = {name: 1 << number for number, name in enumerate(targets)}
        wanted = frozenset(targets.values())
        for folded in _fold_side(base, wanted):
            case = base.stored.find_case(folded.suite, folded.case)
            for result in folded.trials:
                self.base.add(result, case)
            self._suites.setdefault(base.place_of(folded.suite), folded.suite)
            mark = mark_of(_name_in(base, folded, folded.target))
            self._known.add(mark, folded.trials[-1].key.repeat, 0)
        for folded in _fold_side(head, targets):
            name = _name_in(head, folded, targets[folded.target])
            known = self._known.find(mark_of(name))
            if known is not None:
                self._known.put(mark_of(name), 1, known[1] | bits[folded.target])
            yield self._pair(folded, name, known[0] if known is not None else 0)
        for folded in _fold_side(base, wanted):
            known = self._known.find(mark_of(_name_in(base, folded, folded.target)))
            for head_target, base_target in targets.items():
                if base_target == folded.target and known and not known[1] & bits[head_target]:
                    yield self._removed(folded, head_target)

    def _pair(self, folded: CaseTrials, name: PlacedName, repeats: int) -> CaseRow:
        """A case of head beside that of base, which has so many repeats."""
        stored = self.comparison.base.stored
        case = self.comparison.head.stored.find_case(folded.suite, folded.case)
        for result in folded.trials:
            self.head.add(result, case)
        suite = self._suites.get(name.suite, "")
        keys = (TrialKey(suite, name.case, name.target, each) for each in range(1, repeats + 1))
        results = tuple(found for key in keys if (found := stored.find_result(key)) is not None)
        base = None
        if results:
            before = _make_standing(name, results, self.comparison.base)
            kind = tell_kind(before, _make_standing(name, folded.trials, self.comparison.head))
            base = BaseRow(name.target, stored.outcome(results[0]), results, kind)
        return CaseRow(
            folded.suite, folded.case, folded.target, case, folded.outcome, folded.trials,
            base=base,
            alone="not selected" if "added" in self.comparison.unselected else "added",
        )  # fmt: skip

    def _removed(self, folded: CaseTrials, head_target: str) -> CaseRow:
        change = "not selected" if "removed" in self.comparison.unselected else "removed"
        base = BaseRow(folded.target, folded.outcome, folded.trials, change)
        case = self.comparison.base.stored.find_case(folded.suite, folded.case)
        return CaseRow(folded.suite, folded.case, head_target, case, None, base=base)


def _name_in(side: Side, folded: CaseTrials, target: str) -> PlacedName:
    return PlacedName(side.place_of(folded.suite), folded.case, target)


def _fold_side(side: Side, targets: Mapping[str, str] | frozenset[str]) -> Iterator[CaseTrials]:
    wanted = (result for result in side.stored.results() if result.key.target in targets)
    return fold_trials(wanted, side.stored.outcome)


def _make_standing(name: PlacedName, results: tuple[Result, ...], side: Side) -> CaseStanding:
    outcome = side.stored.outcome(results[0])
    unit = Unit(name, results[0], outcome.verdict, repeats=outcome.repeats)
    for result in results:
        unit.add(result)
    return unit.standing()


_TELLERS: dict[str, Callable[[float], str]] = {"latency": say_seconds, "cost": "${:.2g}".format}
"""How amounts are written that are no plain counts."""


def comparison_data(compared: Compared) -> PageObject:
    comparison = compared.comparison
    warnings = list(comparison.remarks)
    if comparison.alone:
        names = ", ".join(f"`{name}`" for name in comparison.alone)
        warnings.append(f"only one of the two has {names}")
    return {
        "sentences": list(say_result(comparison, compared.gated, str)),
        "warnings": warnings,
        "tracks": [_track_data(track, compared) for track in comparison.tracks],
    }


def _track_data(track: TrackFigures, compared: Compared) -> PageObject:
    several = len(compared.comparison.tracks) > 1 or track.base_target != track.head_target
    tested = [each for each in compared.gated if each.track is track]
    notes = [say_test(compared.gated)] if tested and track.pairs and not track.is_same else []
    power = find_power(tested[0].measured, compared.effect, len(compared.gated)) if notes else None
    return {
        "title": f"{track.base_target} → {track.head_target}" if several else "",
        "counts": say_counts(track, compared.comparison.unselected),
        "rows": list(_make_rows(track, {each.grader: each.measured for each in tested})),
        "notes": [*notes, *_more_notes(track, power)] if notes else [],
    }


def _more_notes(track: TrackFigures, power: Power | None) -> Iterator[str]:
    if power is not None:
        yield say_power(power)
    # Tags are in the charts.
    if folded := say_folded(replace(track, tags=())):
        yield folded


def _make_rows(track: TrackFigures, tested: dict[str | None, Measured]) -> Iterator[list[str]]:
    """Name, base, head, change and p of each measure."""
    if not track.pairs:
        return
    yield _measure_row("pass rate", tested.get(None, track.passed))
    if track.score.pairs:
        # Where only one of the two has a score there is no pair.
        of = "" if track.score.pairs == track.pairs else f", of {track.score.pairs:,} pairs"
        yield _measure_row(f"score{of}", track.score, is_share=False)
    chosen = choose_parts(track.graders) if len(track.graders) > 1 else []
    for each in track.graders:
        if each in chosen or each.name in tested:
            yield _measure_row(f"by {each.name}", tested.get(each.name, each))
    for amount in track.amounts:
        if amount.base is not None and amount.head is not None:
            yield _amount_row(amount)


def _measure_row(name: str, measured: Measured, *, is_share: bool = True) -> list[str]:
    scale, unit = (100, "%") if is_share else (1, "")
    digits = 1 if is_share else 3
    sides = [
        "–" if side is None else f"{scale * side:.{digits}f}{unit}"
        for side in (measured.base, measured.head)
    ]
    change = measured.change
    told = "–"
    if change is not None:
        value, low, high = (
            f"{scale * each:+.{digits}f}".replace("-", "\N{MINUS SIGN}")
            for each in (change.value, change.low, change.high)
        )
        told = f"{value}{' points' if is_share else ''} ({low} to {high})"
    p = measured.adjusted
    return [name, *sides, told, "" if p is None else f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"]


def _amount_row(amount: Amount) -> list[str]:
    assert amount.base is not None
    assert amount.head is not None
    if amount.is_short:
        return [f"{amount.name}, median", "<1 ms", "<1 ms", "", ""]
    told = "" if amount.ratio is None else say_ratio(amount)
    say = _TELLERS.get(amount.name, "{:,.0f}".format)
    sides = (say(side.median) for side in (amount.base, amount.head))
    return [f"{amount.name}, median", *sides, told, ""]


def write_compared_html(compared: Compared, max_size: int, home: str = "") -> Iterator[bytes]:
    """The pieces of the page."""
    base, head = compared.comparison.base, compared.comparison.head
    page = PageWriter(max_size, compared=True, served=bool(home))
    rows = PairedRows(compared.comparison)
    yield from page.write(rows)
    # What is to be said of either side stands in the comparison already.
    told = {
        "run": {"name": head.label, "figures": figures_object(sum_up(rows.head)), "remarks": []},
        "base": {"name": base.label, "figures": figures_object(sum_up(rows.base))},
        "comparison": comparison_data(compared), "home": home,
    }  # fmt: skip
    more = f"evalcase compare {base.label} {head.label} --format html --max-size 1GB"
    yield from page.finish(told, more)
