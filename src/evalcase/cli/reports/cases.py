"""Reports whose rows are cases: JUnit, Markdown, and annotations of GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evalcase.cli.conclusion import say_mixed, why_incomplete
from evalcase.cli.reports.reported import Reported
from evalcase.cli.reports.standing import LineFinder
from evalcase.report.cases import CaseTrials, fold_trials
from evalcase.runner.evaluated import Evaluated, read_evaluated
from evalcase.store.folder import describe_part
from evalcase.types.result import Result
from evalcase.types.value import replace
from evalcase.util.environment import this_environment

_TROUBLE = ("errored", "failed", "ungraded", "unfinished")


def write_junit(reported: Reported) -> Iterator[str]:
    from evalcase.report.junit import JUnitHead, junit_pieces

    kept, standing, evaluated = (
        reported.kept,
        LineFinder(reported, this_environment().state),
        reported.evaluated(),
    )
    about = JUnitHead(
        kept.run.id, kept.run.created_at, _say_incomplete(evaluated), _say_settled(evaluated),
        reported.junit_properties, say_mixed(kept.mixed), _say_grading(evaluated),
        _max_errors(evaluated),
    )  # fmt: skip
    cases = _fold_cases(reported, reported.results())
    return junit_pieces(cases, kept.find_case, standing.locate, standing.see, about)


def write_github(reported: Reported) -> Iterator[str]:
    from evalcase.report.github import RunNotes, annotation_lines

    standing, evaluated = LineFinder(reported, this_environment().state), reported.evaluated()
    cases = _fold_cases(reported, reported.results())
    about = RunNotes(
        _say_incomplete(evaluated), say_mixed(reported.kept.mixed), _say_grading(evaluated),
        _say_settled(evaluated), _is_well(reported),
    )  # fmt: skip
    lines = annotation_lines(cases, standing.find_line, standing.see, about)
    return (line + "\n" for line in lines)


def write_markdown(reported: Reported) -> Iterator[str]:
    from evalcase.report.markdown import MarkdownHead, markdown_pieces

    kept, evaluated = reported.kept, reported.evaluated()
    notes = [describe_part(kept.run),
             f"grading {_say_grading(evaluated)}" if evaluated.graded_by is not None else "",
             say_mixed(kept.mixed), _say_settled(evaluated)]  # fmt: skip
    statistics = reported.open_statistics()
    figures = reported.figures(statistics)
    about = MarkdownHead(
        kept.run.id, evaluated.duration_s, _say_incomplete(evaluated),
        tuple(note for note in notes if note), evaluated.totals,
        reported.wanted.describe(), " or ".join(reported.wanted.verdicts),
        tuple(statistics.differing()),
    )  # fmt: skip
    return markdown_pieces(figures, _find_troubled(reported), kept.find_case, about)


def _find_troubled(reported: Reported) -> Iterator[CaseTrials]:
    """The cases to be shown, the worst kind first; each kind is looked for by itself, so that no
    more than one is held."""
    for verdict in reported.wanted.verdicts or _TROUBLE:
        only = replace(reported, wanted=replace(reported.wanted, verdicts=(verdict,)))
        yield from _fold_cases(only, only.results())


def _fold_cases(reported: Reported, results: Iterable[Result]) -> Iterator[CaseTrials]:
    return fold_trials(results, reported.kept.outcome)


def _say_grading(evaluated: Evaluated) -> str:
    """Which grading it is, and where that comes from; empty where there is only one."""
    return "" if evaluated.graded_by is None else str(evaluated.graded_by)


def _is_well(reported: Reported) -> bool:
    """Whether the run ended well by the gates that it was given: a pass rate, so many errors."""
    evaluated = read_evaluated(reported.kept)
    fail_under = evaluated.run.about.options.get("fail_under")
    held = fail_under if isinstance(fail_under, int | float) else None
    return replace(evaluated, fail_under=held, max_errors=_max_errors(evaluated)).ok


def _max_errors(evaluated: Evaluated) -> int:
    """How many trials may error, as the run was told; none where its record says nothing of it."""
    allowed = evaluated.run.about.options.get("max_errors")
    return allowed if type(allowed) is int else 0


def _say_settled(evaluated: Evaluated) -> str:
    """What was decided for the better, so that the rest need not be run; may be empty."""
    decision = evaluated.decision
    if decision is None or not decision.is_good:
        return ""
    return f"{decision}; {evaluated.not_run:,} cases were not run"


def _say_incomplete(evaluated: Evaluated) -> str:
    """Why some of a run is missing; empty where nothing is, or where nothing more is needed."""
    if _say_settled(evaluated):
        return ""
    why = why_incomplete(evaluated)
    if evaluated.not_run:
        left = f"{evaluated.not_run:,} cases were not run"
        why = f"{why}; {left}" if why else left
    return why
