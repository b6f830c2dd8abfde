"""What reports point at, kept with the run: the lines at which its cases begin in their suites."""

from __future__ import annotations

from contextlib import suppress

from evalcase.errors import ConfigError, SuiteError
from evalcase.evaluation.plan import Plan
from evalcase.format.collection import WantsCase
from evalcase.format.source import UnreadableError
from evalcase.store.case_lines import read_line_hashes, write_case_lines
from evalcase.store.folder import Run
from evalcase.types.case import Case
from evalcase.util.table import Table, mark_of


def keep_case_lines(plan: Plan, run: Run, *, are_needed: bool) -> None:
    """Look up where the cases of a run begin, and keep that in its folder. Where nobody needs them,
    only lines that are there, and of other suites than now, are looked up again.

    If it can't be done, a report finds them as long as the suites are there.
    """
    known = read_line_hashes(run)
    if known is None and not are_needed:
        return
    with suppress(ConfigError, OSError, SuiteError, UnreadableError):
        hashes = plan.suites.hashes()
        # Answers may have been graded by other suites than they were asked by.
        if hashes == known or not _are_of(run, hashes):
            return
        lines = plan.suites.lines(_choose_cases(plan))
        if lines is not None:
            write_case_lines(run, hashes, lines)


def _are_of(run: Run, hashes: dict[str, str]) -> bool:
    return not run.about.suites.keys().isdisjoint(hashes)


def _choose_cases(plan: Plan) -> WantsCase:
    """What tells the cases of a run among those of its suites."""
    if not plan.selector.narrows:
        return lambda *_: True
    chosen = Table("B")
    for suite, case in plan.selector.select(plan.suites):
        chosen.add(mark_of((suite, case.id)), 1)

    def wants(suite: str, case: Case) -> bool:
        return mark_of((suite, case.id)) in chosen

    return wants
