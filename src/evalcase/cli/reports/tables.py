"""Reports whose rows are trials, for spreadsheets and data frames: CSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.cli.reports.reported import Reported
from evalcase.report.tables import COLUMN_TYPES, RowCell, grader_column, trial_row


def write_csv(reported: Reported) -> Iterator[str]:
    from evalcase.report.tables import csv_pieces

    return csv_pieces(_list_columns(reported), _make_rows(reported))


def write_parquet(reported: Reported) -> Iterator[bytes]:
    from evalcase.report.tables import parquet_pieces

    return parquet_pieces(_list_columns(reported), _make_rows(reported))


def _list_columns(reported: Reported) -> list[str]:
    """The same of every trial, and one for each grader: they are gone through once for that."""
    graders: dict[str, None] = {}
    for result in reported.results():
        for grade in result.grades:
            graders[grader_column(grade.grader)] = None
    return [*COLUMN_TYPES, *graders]


def _make_rows(reported: Reported) -> Iterator[dict[str, RowCell]]:
    kept = reported.kept
    for result in reported.results():
        case = kept.find_case(result.key.suite, result.key.case)
        yield trial_row(kept.run.id, result, case, kept.outcome(result), kept.mixed)
