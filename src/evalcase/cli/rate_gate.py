"""What came of `--fail-under`, in words: a log has to say why a build is red or green."""

from __future__ import annotations

from evalcase.evaluation.evaluated import Evaluated


def say_gate(evaluated: Evaluated) -> str:
    """Empty where no pass rate was asked for, or what ended the run early says it."""
    if evaluated.fail_under is None or evaluated.decision is not None or evaluated.failed_fast:
        return ""
    return f"--fail-under {evaluated.fail_under:g}: {_say(evaluated, evaluated.fail_under)}"


def _say(evaluated: Evaluated, enough: float) -> str:
    totals = evaluated.totals
    if not evaluated.complete or totals.unfinished:
        return "not decided, the run is not complete"
    if (errored := totals.trials.errored) > evaluated.max_errors:
        trials = "1 trial" if errored == 1 else f"{errored:,} trials"
        return f"not decided, {trials} errored; --max-errors {errored} allows that"
    if totals.pass_rate is None:
        return "FAILED, nothing was tried"
    word = "FAILED" if totals.pass_rate < enough else "passed"
    return f"{word}, {totals.cases.passed:,} of {_tried(evaluated):,} cases passed"


def _tried(evaluated: Evaluated) -> int:
    cases = evaluated.totals.cases
    return cases.total - cases.skipped
