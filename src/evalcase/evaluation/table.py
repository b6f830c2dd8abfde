"""What came of a run as rows, and as a table for notebooks: what `Evaluated` gives of it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from evalcase.report.files.folded import fold_trials
from evalcase.report.files.rows import RowCell, trial_row
from evalcase.report.page.notebook import MOST_TABLE_ROWS, notebook_table, row_of_case
from evalcase.store.stored import StoredRun

if TYPE_CHECKING:
    from evalcase.evaluation.evaluated import Evaluated


def table_of(evaluated: Evaluated) -> list[dict[str, RowCell]]:
    """A row for each trial, as in the tables that `report` writes. Each has every column."""
    with StoredRun(evaluated.run, evaluated.grading) as kept:
        rows = [
            trial_row(
                kept.run.id, result, kept.find_case(result.key.suite, result.key.case),
                kept.outcome(result), kept.mixed,
            )
            for result in kept.results()
        ]  # fmt: skip
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def html_of(evaluated: Evaluated) -> str:
    """HTML for a notebook: the verdict in a line, and a row for each case at a target."""
    with StoredRun(evaluated.run, evaluated.grading) as kept:
        shown = islice(fold_trials(kept.results(), kept.outcome), MOST_TABLE_ROWS)
        rows = [row_of_case(each, kept.find_case(each.suite, each.case)) for each in shown]
    notice = "" if evaluated.complete else evaluated.notice or evaluated.status
    return notebook_table(evaluated.totals, rows, notice, is_shared=evaluated.is_shared)
