"""What a run says by its exit code: how it went, and by which gates that counts."""

from __future__ import annotations

from evalcase.evaluation.evaluated import Evaluated
from evalcase.project.options import RunOptions

_ORDER = (130, 2, 3, 1, 0)
"""Where several hold, the first of them is what is said."""


def exit_code(evaluated: Evaluated, gates: RunOptions) -> int:
    """130 interrupted, 3 errors or not completed, 1 not all passed or a gate not met, else 0."""
    totals, cases = evaluated.totals, evaluated.totals.cases
    if evaluated.status == "interrupted":
        return 130
    decision = evaluated.decision
    if totals.trials.errored > gates.max_errors or not (
        evaluated.complete or evaluated.failed_fast or decision is not None
    ):
        return 3
    if decision is not None:
        return 0 if decision.is_good else 1
    if evaluated.failed_fast:
        return 1
    if totals.unfinished:
        return 3  # some cases lack trials, so nobody can say what they come to
    if gates.fail_under is not None:
        if totals.pass_rate is None:
            # Nothing was tried, which meets no gate; but a shard may have got nothing.
            return 1 if gates.selection.shard is None else 0
        return 1 if totals.pass_rate < gates.fail_under else 0
    return 1 if cases.failed or cases.ungraded else 0


def first_code(*codes: int) -> int:
    """The one of several codes that counts."""
    return min(codes, key=_ORDER.index)
