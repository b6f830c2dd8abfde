"""The exit code of a run, from its totals and its gates. Nothing else computes one from totals: the
commands, `evaluate` and the pytest plug-in all ask `decide_exit_code`."""

from __future__ import annotations

from evalcase.model.decision import Decision
from evalcase.model.totals import Totals

_ORDER = (130, 2, 3, 1, 0)
"""If several codes apply, the first of these counts."""


def first_code(*codes: int) -> int:
    """The one of several codes that counts."""
    return min(codes, key=_ORDER.index)


def decide_exit_code(
    totals: Totals, *, status: str = "completed", decision: Decision | None = None,
    failed_fast: bool = False, fail_under: float | None = None, max_errors: int = 0,
    needs_tries: bool = False,
) -> int:  # fmt: skip
    """130 interrupted; 3 too many errors, or not completed; 1 not all passed, or a gate is not
    met; else 0. `max_errors` only turns 3 into 1: an errored case has not passed.

    `needs_tries` is false for a shard, which may be empty."""
    if status == "interrupted":
        return 130
    ended_well = status == "completed" or failed_fast or decision is not None
    if totals.trials.errored > max_errors or not ended_well:
        return 3
    if decision is not None:
        return 0 if decision.is_good else 1
    if failed_fast:
        return 1
    if totals.unfinished:
        return 3
    if totals.pass_rate is None:
        return 1 if needs_tries and fail_under != 0 else 0
    enough = 1.0 if fail_under is None else fail_under
    return 0 if totals.pass_rate >= enough else 1
