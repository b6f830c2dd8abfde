"""A result in, the lines out that a summary has of it: for notebooks, logs and tests."""

from __future__ import annotations

from evalcase.report.terminal.failures import name_lines
from evalcase.report.terminal.said import result_heard
from evalcase.report.terminal.style import PLAIN
from evalcase.report.terminal.trial_details import detail_lines
from evalcase.types.case import Case
from evalcase.types.result import Result, outcome_of_one


def explain(result: Result, case: Case | None = None, width: int = 80) -> str:
    """What was expected of a trial, what was said, and why it is not passed; with its case also
    what was asked."""
    alone = outcome_of_one(result.verdict, result.pass_rate)
    lines = [
        *name_lines(result, alone, PLAIN, width, name_target=True),
        *detail_lines(result, result_heard(result), case, PLAIN, width),
    ]
    return "\n".join(lines)
