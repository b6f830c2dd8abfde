"""What is to be said of a run that ended, in sentences: why it is incomplete, how it is named, its
gates, and the next command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

from evalcase.report.aggregate import rate_totals
from evalcase.report.evaluated import Evaluated, read_evaluated
from evalcase.report.figures import Mean, write_money
from evalcase.report.source import Reader
from evalcase.report.terminal import seen_from
from evalcase.store.folder import RUN_ID, Run, describe_name, describe_part, is_run
from evalcase.store.reader import HALF_WRITTEN
from evalcase.store.stored import StoredRun
from evalcase.types.target import TrialKey
from evalcase.util.text import write_count


def rate_of(evaluated: Evaluated) -> Mean:
    """The pass rate of a run, with the interval that follows from its totals, if one does."""
    holds = not (evaluated.is_biased or evaluated.is_shared)
    return rate_totals(evaluated.totals, "wilson" if holds else "sequence", evaluated.decision).rate


def say_mixed(targets: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in targets)
    return f"answers from before and after {names} changed" if names else ""


def name_run(run: Run, reader: Reader) -> str:
    """How a run is named on the command line: by its id where it is looked for there, else by its
    folder. What a record says of itself is no name: it may come from anyone."""
    stored = os.path.dirname(os.path.realpath(run.path))
    id = os.path.basename(os.path.realpath(run.path))
    if not RUN_ID.fullmatch(id):  # a renamed folder is found by its path only
        return quote(seen_from(reader.cwd, run.path))
    if stored == os.path.realpath(reader.config.find_runs()):
        return quote(id)
    folder = os.path.dirname(seen_from(reader.cwd, run.path)) or "."
    return f"{quote(id)} --runs-dir {quote(folder)}"


def why_incomplete(evaluated: Evaluated) -> str:
    """Why a run has not all of its results, in words; empty where it has."""
    if evaluated.complete:
        return ""
    graded = evaluated.graded_so_far
    is_torn = evaluated.notice == HALF_WRITTEN
    if not is_torn and (evaluated.notice or evaluated.status not in ("interrupted", "incomplete")):
        return "; ".join(filter(None, (evaluated.notice or evaluated.status, graded)))
    word = "interrupted" if evaluated.status == "interrupted" else "killed, or still running"
    so_far = graded or f"{_say_trials(evaluated)} finished and stored"
    return f"{word}, with {so_far}" + (f"; {HALF_WRITTEN}" if is_torn else "")


def _say_trials(evaluated: Evaluated) -> str:
    """How many trials of how many a run has. Where it has more than were planned, its suites were
    changed since, and nothing says of how many."""
    planned, done = evaluated.run.about.trials, evaluated.totals.trials.total
    is_known = planned is not None and done < planned
    return f"{done:,} of {planned:,} trials" if is_known else f"{done:,} trials"


def suggest_next(
    evaluated: Evaluated, name: str, failed: TrialKey | None = None, *, is_own: bool = True
) -> str:
    """The command that most people want now; none if all is well. A run that this person
    did not make is never suggested to be resumed: that does what its record says."""
    if not is_run(evaluated.run.path):  # it was removed while it was written
        return ""
    if is_own and (resuming := _suggest_resuming(evaluated, name)):
        return resuming
    graded = name_grading(evaluated, name)
    if failed is not None:
        return f"evalcase report {graded} --case {quote(failed.case)}"
    cases = evaluated.totals.cases
    is_bad = cases.failed or cases.ungraded or evaluated.failed_fast or evaluated.lost
    return f"evalcase report {graded}" if is_bad else ""


def name_grading(evaluated: Evaluated, name: str) -> str:
    """What `name_run` made, for the grading that is looked at: another may have other verdicts."""
    if evaluated.grading is None:
        return name
    run, option, folder = name.partition(" --runs-dir ")
    return f"{run}@{evaluated.grading}{option}{folder}"


def _suggest_resuming(evaluated: Evaluated, name: str) -> str:
    """How to go on with a run that can be gone on with; an earlier grading can not."""
    by = evaluated.graded_by
    if by is not None and not (by.complete or by.is_newest):
        return ""
    if evaluated.totals.trials.errored and (evaluated.complete or evaluated.failed_fast):
        return f"evalcase resume {name} --retry-errored"
    if evaluated.cap_usd is not None:
        # It leaves room for about as much again as was spent, in two digits.
        usd = 2 * max(evaluated.cap_usd, evaluated.totals.spent_usd or 0.0) or 1.0
        raised = f"{float(f'{usd:.2g}'):.12f}".rstrip("0").rstrip(".")
        return f"evalcase resume {name} --max-cost {raised}"
    if not evaluated.complete and not evaluated.failed_fast and not evaluated.lost:
        return f"evalcase resume {name}"
    return ""


def max_errors_of(evaluated: Evaluated) -> int:
    """How many trials may error, as the run was told; none if its record does not say."""
    allowed = evaluated.run.about.options.get("max_errors")
    return allowed if type(allowed) is int else 0


def note_run(evaluated: Evaluated) -> dict[str, str]:
    """What every report says of a run beside its figures, by topic; empty where there is nothing to
    say. Of a run that was decided for the better, nothing more is needed."""
    run, decision, by = evaluated.run, evaluated.decision, evaluated.graded_by
    done, spent, left = evaluated.totals.cases.total, evaluated.totals.cost_usd, evaluated.not_run
    not_run, stopped = write_count(left, "case"), why_incomplete(evaluated)
    missing = [stopped, f"{not_run} not run" if left else ""]
    is_settled = decision is not None and decision.is_good
    # What the cases that were not run would have cost, by what the others did.
    cost = f", about {write_money(spent / done * left)}" if spent and done else ""
    return {
        "run": describe_name(run),
        "part": describe_part(run),
        "grading": "" if by is None else str(by),
        "mixed": say_mixed(evaluated.mixed),
        "stopped": stopped,
        "saved": f"{not_run}{cost}" if left and decision is not None else "",
        "decided": f"{decision}; {not_run} not run" if is_settled else "",
        "missing": "" if is_settled else "; ".join(filter(None, missing)),
    }


def say_gate(evaluated: Evaluated) -> str:
    """Empty where the counts say it, or what ended the run early does."""
    totals, cases = evaluated.totals, evaluated.totals.cases
    if evaluated.decision is not None or evaluated.failed_fast:
        return ""
    if evaluated.fail_under is None:
        if evaluated.needs_tries and evaluated.complete and totals.pass_rate is None:
            return "FAILED, nothing was run, as all is skipped; --fail-under 0 allows it"
        if evaluated.exit_code == 1 and cases.errored >= cases.not_passed:
            return f"FAILED, {write_count(cases.errored, 'errored case')} did not pass"
        return ""
    word, errored = "passed" if evaluated.ok else "FAILED", totals.trials.errored
    if not evaluated.complete or totals.unfinished:
        said = "not decided, the run is not complete"
    elif errored > evaluated.max_errors:
        trials = write_count(errored, "trial")
        said = f"not decided, {trials} errored; --max-errors {errored} allows that"
    elif totals.pass_rate is None:
        said = f"{word}, {'though ' if evaluated.ok else ''}nothing was run"
    else:
        said = f"{word}, {cases.passed:,} of {cases.total - cases.skipped:,} cases passed"
    return f"--fail-under {evaluated.fail_under:g}: {said}"


class Remark(NamedTuple):
    text: str
    is_apart: bool
    """Whether its pass rate is no step in a row of others: it is of other graders or cases, of
    several versions of a target, or of a part."""


def remark_on(stored: StoredRun, *, own: bool, running: bool = False) -> Remark:
    """What has to be said of a run. Raise RecordError if it can't be read."""
    said = [] if stored.graded_by is None else [f"grading {stored.graded_by}"]
    if part := describe_part(stored.run):
        said.append(part)
    if stored.mixed:
        said.append(f"mixed: {say_mixed(stored.mixed)}")
    if (errored := stored.totals.trials.errored) > stored.totals.cases.errored:
        said.append(f"{write_count(errored, 'trial')} errored")
    is_apart = bool(part or stored.mixed or (stored.graded_by and stored.graded_by.graders))
    if stored.end.status == "completed":
        return Remark("; ".join(said), is_apart)
    evaluated = read_evaluated(stored)
    progress = evaluated.graded_so_far or _say_trials(evaluated)
    if running:
        return Remark("; ".join([*said, f"running, {progress}"]), True)
    decision = stored.end.decision
    end = f"incomplete, {progress}" if decision is None else str(decision)
    if stored.end.notice == HALF_WRITTEN:
        end += f"; {HALF_WRITTEN}"
    if not own:
        end += ", not made by you here"
    if hint := suggest_next(evaluated, os.path.basename(stored.run.path), is_own=own):
        end += f": {hint}"
    return Remark("; ".join([*said, end]), True)
