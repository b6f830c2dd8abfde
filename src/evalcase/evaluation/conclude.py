"""What came of a run, once its journal is closed: totals of what is on disk, a folder in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.errors import RecordError
from evalcase.evaluation.evaluated import Evaluated, count_not_run, hold_to_gates
from evalcase.evaluation.plan import Plan
from evalcase.model.totals import Totals
from evalcase.record.ending import End, Status
from evalcase.record.folder import Run
from evalcase.record.index import read_totals

if TYPE_CHECKING:
    from evalcase.evaluation.job import Job
    from evalcase.record.gradings import GradedBy


def conclude_run(
    plan: Plan, run: Run, end: End, work: Job, *, is_new: bool, is_failed: bool
) -> Evaluated:
    """`is_failed`: whether it is the record itself that failed."""
    totals = (work.totals() if not is_failed else None) or _count_kept(run)
    _put_in_order(plan, run, end.status, totals, is_new=is_new)
    evaluated = Evaluated(
        run, end.status, totals, end.notice, end.failed_fast, end.cap_usd, end.duration_s,
        mixed=work.mixed(), not_run=count_not_run(run, end.status, totals),
        decision=end.decision, lost=end.lost, was_decided=end.was_decided,
        finished=end.finished, planned=end.planned,
        # The record tells it, and need not be gone through again where there is one only.
        graded_by=_graded_by(run) if work.grading > 1 and not is_failed else None,
    )  # fmt: skip
    return hold_to_gates(evaluated, plan.options)


def _put_in_order(plan: Plan, run: Run, status: Status, totals: Totals, *, is_new: bool) -> None:
    is_fine = status == "completed" and not totals.trials.not_passed
    if not (is_fine and is_new):
        from evalcase.evaluation.case_lines import keep_case_lines  # most runs need none

        keep_case_lines(plan, run, are_needed=not is_fine)
    if status == "completed" and plan.config.compress:
        from evalcase.record.packing import pack_journal

        pack_journal(run, plan.warn)


def _count_kept(run: Run) -> Totals:
    """What the results that are on disk come to; none, if nobody can read them."""
    try:
        return read_totals(run.journal)
    except RecordError:
        return Totals()


def _graded_by(run: Run) -> GradedBy | None:
    from evalcase.record.kept import KeptRun

    return KeptRun(run).graded_by
