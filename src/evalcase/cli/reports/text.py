"""A report for people: what `run` showed at its end, or cases in full."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.cli.conclusion import conclusion_lines
from evalcase.cli.paths import see_suites
from evalcase.cli.reports.by_parts import require_variables
from evalcase.cli.reports.reported import Reported
from evalcase.cli.terminal import defuse_lines
from evalcase.report.case_text import case_lines, trial_lines
from evalcase.report.details import UNFINISHED
from evalcase.report.figures import settle_figures
from evalcase.report.highlights import TROUBLED, Highlights
from evalcase.runner.evaluated import read_evaluated
from evalcase.util.text import make_visible


def write_text(reported: Reported) -> Iterator[str]:
    lines = _write_summary(reported) if reported.wanted.case is None else _write_cases(reported)
    return (line + "\n" for line in defuse_lines(lines))


def _write_summary(reported: Reported) -> Iterator[str]:
    kept, verdicts = reported.kept, reported.wanted.verdicts
    shown = [None if each == UNFINISHED else each for each in verdicts]
    ledger = reported.figuring.open_ledger(kept.run)
    statistics = Highlights(shown or TROUBLED, ledger)  # type: ignore[arg-type]
    evaluated = reported.evaluated(statistics)
    figures = reported.figuring.sum_up(statistics.ledger, evaluated.not_run)
    require_variables(reported.by, figures)
    figures = settle_figures(
        figures, evaluated.decision, whole=reported.wanted.is_all,
        is_biased=evaluated.is_biased,
    )  # fmt: skip
    return conclusion_lines(
        evaluated, statistics, kept.find_case,
        reported.place, reported.screen, figures, reported.by,
        is_own=reported.is_own, verbose=reported.verbose,
    )  # fmt: skip


def _write_cases(reported: Reported) -> Iterator[str]:
    """One case in full; or several, where suites have the same id."""
    kept, place = reported.kept, reported.place
    screen = reported.screen
    see_suite = see_suites(kept.run, place.config.root, place.cwd)
    results = sorted(reported.results(), key=lambda result: result.key)
    before, known = None, None
    for result in results:
        suite, case, _, _ = result.key
        if before is None or before[:2] != (suite, case):
            if before is not None:
                yield ""
            known = kept.find_case(suite, case)
            yield from case_lines(see_suite(suite), case, known, screen)
        is_first = before is None or before[:3] != result.key[:3]
        yield from trial_lines(result, known, kept.outcome(result), screen, is_first=is_first)
        before = result.key
    if before is not None and (graded := read_evaluated(kept).graded_so_far):
        yield from ("", f"not complete: {graded}")
    if before is None:
        wanted = reported.wanted
        yield f"case {make_visible(wanted.case or '')} is not {' or '.join(wanted.verdicts)}"
