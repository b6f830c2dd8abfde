"""A report to look at, as one HTML file: the record is read here, and handed on as values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator

from evalcase.cli.conclusion import name_run, say_mixed, why_incomplete
from evalcase.cli.reports.reported import Reported
from evalcase.model.result import Result
from evalcase.record.evaluated import Evaluated
from evalcase.record.folder import origin_of
from evalcase.record.kept import KeptRun
from evalcase.report.page.subject import CaseRow, Regrading, RunFacts, fold_rows
from evalcase.report.page.write import Page, write_page


def write_html(reported: Reported) -> Iterator[bytes]:
    """The pieces of the page."""
    kept = reported.kept
    facts = describe_run(kept, reported.evaluated())
    more = f"evalcase view {name_run(kept.run, reported.place)}"
    with tempfile.TemporaryFile() as scratch:
        rows = read_rows(reported, reported.results())
        yield from write_page(Page(facts, more=more), rows, scratch, reported.max_size)


def describe_run(kept: KeptRun, evaluated: Evaluated) -> RunFacts:
    """What is said of a run before its cases."""
    run, origin = evaluated.run, origin_of(evaluated.run)
    remarks = [f"only the cases that did not pass in {origin}"] if origin else []
    if mixed := say_mixed(evaluated.mixed):
        remarks.append(mixed)
    number = evaluated.grading or kept.gradings
    return RunFacts(
        run.id, run.created_at, evaluated.status, why_incomplete(evaluated), evaluated.totals,
        evaluated.not_run, evaluated.duration_s,
        f"{number} of {kept.gradings}" if kept.gradings > 1 else "", tuple(remarks),
    )  # fmt: skip


def read_rows(reported: Reported, results: Iterable[Result]) -> Iterator[CaseRow]:
    """Each case at each target, with all of its trials and every grading of them."""
    kept = reported.kept
    gradings = [KeptRun(kept.run, number) for number in range(1, kept.gradings + 1)]
    for group in fold_rows(results, kept.outcome):
        suite, case, target, _ = group[0].key
        yield CaseRow(
            suite, case, target, kept.find_case(suite, case), kept.outcome(group[0]),
            tuple(group), _regradings(gradings, group) if len(gradings) > 1 else {},
        )  # fmt: skip


def _regradings(gradings: list[KeptRun], group: list[Result]) -> dict[int, tuple[Regrading, ...]]:
    """All gradings of the same answers, by repeat."""
    found: dict[int, tuple[Regrading, ...]] = {}
    for result in group:
        graded = {
            each.grading: Regrading(each.grading, each)
            for kept in gradings
            if (each := kept.find_result(result.key)) is not None and each.answer == result.answer
        }
        found[result.key.repeat] = tuple(graded.values())
    return found
