"""What came of `--fail-under`, or of a run of nothing, in words: a log has to say why a build is
red or green."""

from __future__ import annotations

from evalcase.runner.evaluated import Evaluated
from evalcase.util.text import write_count


def say_gate(evaluated: Evaluated) -> str:
    """Empty where the counts say it, or what ended the run early does."""
    if evaluated.decision is not None or evaluated.failed_fast:
        return ""
    if evaluated.fail_under is None:
        return _say_empty(evaluated) or _say_errored(evaluated)
    return f"--fail-under {evaluated.fail_under:g}: {_say(evaluated)}"


def _say(evaluated: Evaluated) -> str:
    totals = evaluated.totals
    if not evaluated.complete or totals.unfinished:
        return "not decided, the run is not complete"
    if (errored := totals.trials.errored) > evaluated.max_errors:
        trials = write_count(errored, "trial")
        return f"not decided, {trials} errored; --max-errors {errored} allows that"
    word = "passed" if evaluated.ok else "FAILED"
    if totals.pass_rate is None:
        return f"{word}, {'though ' if evaluated.ok else ''}nothing was run"
    return f"{word}, {totals.cases.passed:,} of {_tried(evaluated):,} cases passed"


def _say_empty(evaluated: Evaluated) -> str:
    """That all cases are skipped, where that is no success."""
    if not evaluated.needs_tries or not evaluated.complete or evaluated.pass_rate is not None:
        return ""
    return "FAILED, nothing was run, as all is skipped; --fail-under 0 allows it"


def _say_errored(evaluated: Evaluated) -> str:
    """Why a run is red though its errors are allowed."""
    cases = evaluated.totals.cases
    if evaluated.exit_code != 1 or cases.errored < cases.not_passed:
        return ""
    return f"FAILED, {write_count(cases.errored, 'errored case')} did not pass"


def _tried(evaluated: Evaluated) -> int:
    cases = evaluated.totals.cases
    return cases.total - cases.skipped
