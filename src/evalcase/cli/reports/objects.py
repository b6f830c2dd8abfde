"""Reports for programs: one JSON object of a run, or one for each of its trials."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import asdict

from evalcase.cli.conclusion import summary_object
from evalcase.cli.reports.reported import Reported
from evalcase.report.json import Origin, figures_object, json_line, trial_object
from evalcase.store.folder import folder_of_run


def write_json(reported: Reported) -> Iterator[str]:
    """One object, a case in each line, so that a million need not be held."""
    figures = figures_object(reported.figures())
    summary = json_line(summary_object(reported.evaluated(), figures))
    yield f'{summary[:-1]}, "cases": [\n'
    before = None
    for case in reported.kept.cases(reported.results()):
        if before is not None:
            yield before + ",\n"
        before = json_line(asdict(case))
    if before is not None:
        yield before + "\n"
    yield "]}\n"


def write_jsonl(reported: Reported) -> Iterator[str]:
    """An object for each trial, with all that there is to say of it."""
    kept = reported.kept
    origin = Origin(
        kept.run.id, kept.run.about.failed_of, kept.mixed, kept.end.status,
        kept.totals.trials.total, folder_of_run(kept.run),
    )  # fmt: skip
    for result in reported.results():
        case = kept.find_case(result.key.suite, result.key.case)
        row = trial_object(origin, result, case, kept.outcome(result))
        yield json_line(row) + "\n"
