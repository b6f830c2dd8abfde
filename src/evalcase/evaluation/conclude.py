"""What came of a run, once its journal is closed: totals of what is on disk, a folder in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.errors import RecordError
from evalcase.evaluation.evaluated import Evaluated, count_not_run, hold_to_gates
from evalcase.evaluation.plan import Plan
from evalcase.store.folder import Run
from evalcase.store.rows import End, Status
from evalcase.types.result import Totals

if TYPE_CHECKING:
    from evalcase.evaluation.job import Job
    from evalcase.store.stored import StoredRun


def conclude_run(
    plan: Plan, run: Run, end: End, work: Job, *, is_new: bool, is_failed: bool
) -> Evaluated:
    """`is_failed`: whether it is the record itself that failed."""
    totals, graded_by = (None if is_failed else work.totals()), None
    if totals is None or work.grading > 1:  # else the record need not be gone through again
        from evalcase.store.stored import StoredRun

        kept = StoredRun(run)
        totals = totals or _count_kept(kept)
        graded_by = kept.graded_by if work.grading > 1 and not is_failed else None
    _put_in_order(plan, run, end.status, totals, is_new=is_new)
    evaluated = Evaluated(
        run, end.status, totals, end.notice, end.failed_fast, end.cap_usd, end.duration_s,
        mixed=work.mixed(), not_run=count_not_run(run, end.status, totals),
        decision=end.decision, lost=end.lost, was_decided=end.was_decided,
        finished=end.finished, planned=end.planned,
        graded_by=graded_by,
    )  # fmt: skip
    return hold_to_gates(evaluated, plan.options)


def _put_in_order(plan: Plan, run: Run, status: Status, totals: Totals, *, is_new: bool) -> None:
    is_fine = status == "completed" and not totals.trials.not_passed
    if not (is_fine and is_new):
        from evalcase.evaluation.case_lines import keep_case_lines  # most runs need none

        keep_case_lines(plan, run, are_needed=not is_fine)


def _count_kept(kept: StoredRun) -> Totals:
    """What the results that are on disk come to; none, if nobody can read them."""
    try:
        return kept.totals
    except RecordError:
        return Totals()
