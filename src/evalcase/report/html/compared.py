"""Two runs side by side on one page: every case of head beside that of base, and figures."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.report.aggregate import Ledger, sum_up
from evalcase.report.compare import Comparison, TrackFigures
from evalcase.report.comparison_text import has_title, list_remarks, list_sides, track_tables
from evalcase.report.findings import closing_words, say_counts, say_result
from evalcase.report.gates import Compared
from evalcase.report.html.details import BaseRow, CaseRow, PageObject
from evalcase.report.html.page import PageWriter
from evalcase.report.json import figures_object
from evalcase.report.sides import CasePair, PairedCases
from evalcase.types.value import replace


class _Rows:
    """A row for each case of either side, and both sides added up on the way."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.base, self.head = Ledger(), Ledger()

    def __iter__(self) -> Iterator[CaseRow]:
        comparison, targets = self.comparison, self.comparison.targets
        base, head = comparison.base.stored, comparison.head.stored
        paired = PairedCases(comparison.base, comparison.head, targets)
        for case in paired.read_base():
            if case.target in targets.values():
                known = base.find_case(case.suite, case.case)
                for result in case.trials:
                    self.base.add(result, known)
        for pair in paired.pairs():
            if pair.name.target not in targets:
                continue
            if pair.head is None:
                yield self._removed(pair)
                continue
            known = head.find_case(pair.head.suite, pair.head.case)
            for result in pair.head.trials:
                self.head.add(result, known)
            yield CaseRow(
                pair.head.suite, pair.head.case, pair.head.target, known, pair.head.outcome,
                pair.head.trials, base=_base_row(pair, pair.kind),
                alone="not selected" if "added" in comparison.unselected else "added",
            )  # fmt: skip

    def _removed(self, pair: CasePair) -> CaseRow:
        comparison, suite = self.comparison, pair.base.suite if pair.base is not None else ""
        known = comparison.base.stored.find_case(suite, pair.name.case)
        change = "not selected" if "removed" in comparison.unselected else "removed"
        return CaseRow(
            suite, pair.name.case, pair.name.target, known, None, base=_base_row(pair, change)
        )


def _base_row(pair: CasePair, change: str) -> BaseRow | None:
    base = pair.base
    return None if base is None else BaseRow(base.target, base.outcome, base.trials, change)


def write_compared_html(compared: Compared, max_size: int, home: str = "") -> Iterator[bytes]:
    """The pieces of the page."""
    base, head = compared.comparison.base, compared.comparison.head
    page = PageWriter(max_size, compared=True, served=bool(home))
    rows = _Rows(compared.comparison)
    yield from page.write(rows)
    # What is to be said of either side stands in the comparison already.
    told = {
        "run": {"name": head.label, "figures": figures_object(sum_up(rows.head)), "remarks": []},
        "base": {"name": base.label, "figures": figures_object(sum_up(rows.base))},
        "comparison": _comparison_data(compared), "home": home,
    }  # fmt: skip
    more = f"evalcase compare {base.label} {head.label} --format html --max-size 1GB"
    yield from page.finish(told, more)


def _comparison_data(compared: Compared) -> PageObject:
    comparison = compared.comparison
    return {
        "sentences": list(say_result(comparison, compared.gated, str)),
        "sides": [f"{word}: {about}" for word, _, about in list_sides(comparison) if about],
        "warnings": list_remarks(comparison),
        # Tags are in the charts.
        "tracks": [_track_data(replace(each, tags=()), compared) for each in comparison.tracks],
    }


def _track_data(track: TrackFigures, compared: Compared) -> PageObject:
    comparison = compared.comparison
    title = f"{track.base_target} → {track.head_target}" if has_title(track, comparison) else ""
    return {
        "title": title, "counts": say_counts(track, comparison),
        "tables": list(track_tables(track, compared)),
        "notes": list(closing_words(track, compared)),
    }  # fmt: skip
