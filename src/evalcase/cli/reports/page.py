"""A report to look at, as one HTML file: the record is read here, and handed on as values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from evalcase.cli.conclusion import name_run, say_mixed, why_incomplete
from evalcase.cli.reports.by_parts import require_variables
from evalcase.cli.reports.reported import Reported
from evalcase.report.aggregate import Ledger
from evalcase.report.cases import CaseTrials, fold_trials
from evalcase.report.details import UNFINISHED
from evalcase.report.figures import Figures, settle_figures
from evalcase.report.html.details import CaseRow, Regrading, RunFacts, Told
from evalcase.report.html.page import Page, write_page
from evalcase.runner.evaluated import Evaluated
from evalcase.store.folder import describe_part
from evalcase.store.stored import StoredRun
from evalcase.types.result import Result
from evalcase.types.value import replace


def write_html(reported: Reported, home: str = "", watch: Told | None = None) -> Iterator[bytes]:
    """The pieces of the page. One that is served has a way home, and may be watched."""
    kept, evaluated = reported.kept, reported.evaluated()
    ledger = reported.figuring.open_ledger(kept.run)
    more = f"evalcase view {name_run(kept.run, reported.place)}"

    def describe() -> Page:
        figures = reported.figuring.sum_up(ledger, evaluated.not_run)
        require_variables(reported.by, figures)
        figures = settle_figures(
        figures, evaluated.decision, whole=reported.wanted.is_all,
        is_biased=evaluated.is_biased,
    )  # fmt: skip
        facts = describe_run(evaluated, figures)
        return Page(facts, more=more, home=home, watch=watch)

    with tempfile.TemporaryFile() as scratch:
        rows = read_case_rows(reported, ledger)
        yield from write_page(describe, rows, scratch, reported.max_size, served=bool(home))


def describe_run(evaluated: Evaluated, figures: Figures) -> RunFacts:
    """What is said of a run before its cases."""
    run, part = evaluated.run, describe_part(evaluated.run)
    remarks = [f"only {part}"] if part else []
    if mixed := say_mixed(evaluated.mixed):
        remarks.append(mixed)
    totals = evaluated.totals
    return RunFacts(
        run.id, figures, run.created_at, why_incomplete(evaluated), totals.trials.total,
        totals.grading_usd, evaluated.duration_s,
        "" if evaluated.graded_by is None else str(evaluated.graded_by), tuple(remarks),
        totals.users_usd, totals.lost_usd,
    )  # fmt: skip


def read_case_rows(reported: Reported, ledger: Ledger) -> Iterator[CaseRow]:
    """Each case that is wanted, at each target, with all of its trials and every grading of them.

    On the way all are added up: a verdict that is asked for changes no count.
    """
    kept, verdicts = reported.kept, reported.wanted.verdicts
    gradings = [StoredRun(kept.run, number) for number in range(1, kept.gradings + 1)]
    counted = replace(reported, wanted=replace(reported.wanted, verdicts=()))
    for folded in fold_trials(counted.results(), kept.outcome):
        row = _make_row(kept, folded, gradings)
        for result in folded.trials:
            ledger.add(result, row.known)
        if not verdicts or (row.verdict or UNFINISHED) in verdicts:
            yield row


def _make_row(kept: StoredRun, folded: CaseTrials, gradings: list[StoredRun]) -> CaseRow:
    return CaseRow(
        folded.suite, folded.case, folded.target, kept.find_case(folded.suite, folded.case),
        folded.outcome, folded.trials,
        _find_regradings(gradings, folded.trials) if len(gradings) > 1 else {},
    )  # fmt: skip


def _find_regradings(
    gradings: list[StoredRun], trials: tuple[Result, ...]
) -> dict[int, tuple[Regrading, ...]]:
    """All gradings of the same answers, by repeat."""
    found: dict[int, tuple[Regrading, ...]] = {}
    for result in trials:
        graded = {
            each.grading: Regrading(each.grading, each)
            for kept in gradings
            if (each := kept.find_result(result.key)) is not None and each.answer == result.answer
        }
        found[result.key.repeat] = tuple(graded.values())
    return found
