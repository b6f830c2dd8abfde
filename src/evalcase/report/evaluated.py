"""What came of a run: how it ended, its totals, its exit code, its results and cases; and that in
sentences: why it is incomplete, its gates, and the next command."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import fsum
from shlex import quote
from typing import Any, NamedTuple

from evalcase.config.options import RunOptions
from evalcase.report.details import UNFINISHED, passed_of, reason_of
from evalcase.report.figures import write_money
from evalcase.report.tables import html_table, trial_row
from evalcase.report.terminal import Reader, seen_from
from evalcase.stats.intervals import find_mean
from evalcase.store.folder import RUN_ID, Run, describe_name, describe_part, is_run
from evalcase.store.index import GradedBy
from evalcase.store.reader import HALF_WRITTEN
from evalcase.store.rows import End, Status
from evalcase.store.stored import StoredCases, StoredItems, StoredRun
from evalcase.types.result import CaseVerdict, Decision, Outcome, Result, Totals
from evalcase.types.target import TrialKey
from evalcase.types.value import Value, replace
from evalcase.util.text import write_count

_MOST_ROWS = 200
"""Trials that a notebook shows."""


class Evaluated(Value, frozen=True):
    """What came of a run. Everything else is in its record."""

    run: Run
    status: Status
    """`completed` only if every trial that was planned has a result."""
    totals: Totals
    notice: str | None = None
    """Why it ended early, in words."""
    failed_fast: bool = False
    """Whether it ended early because it was told to, at the first case that did not pass."""
    cap_usd: float | None = None
    """The spending cap, where that is what ended it."""
    duration_s: float | None = None
    """How long all of it took, pauses left out; None where a part of it was killed."""
    grading: int | None = None
    """Which of its gradings this is of; None for the newest."""
    mixed: tuple[str, ...] = ()
    """The targets that changed while it ran, with answers from before
    and after."""
    not_run: int = 0
    """How many cases have no trial with a result: the run was ended before."""
    decision: Decision | None = None
    """What was decided, where that is what ended it early."""
    lost: int = 0
    """How many cases can't be run any more, because the suites no longer have them."""
    graded_by: GradedBy | None = None
    """Where the grading comes from, where the record has several."""
    was_decided: bool = False
    """Whether a decision or a failure on an earlier grading ended it, so that no interval of this
    one holds."""
    fail_under: float | None = None
    """The pass rate that is enough, where one was asked for."""
    max_errors: int = 0
    """How many trials may have errored."""
    needs_tries: bool = False
    """Whether something had to be tried for all to be well: a shard may get nothing."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each trial, of plain cells: for pandas, polars, or a loop. Each has every
        column."""
        rows = list(self._rows())
        columns = dict.fromkeys(name for row in rows for name in row)
        return [{name: row.get(name) for name in columns} for row in rows]

    def _rows(self) -> Iterator[dict[str, Any]]:
        with StoredRun(self.run, self.grading) as stored:
            for result in stored.results():
                case, outcome = stored.find_case(*result.key[:2]), stored.outcome(result)
                yield trial_row(stored.run.id, result, case, outcome, stored.mixed)

    def _repr_html_(self) -> str:
        return html_table(str(self), islice(self._rows(), _MOST_ROWS))

    def __str__(self) -> str:
        """How it ended, what came of it and where its record is, in a line."""
        left = f"{self.not_run:,} not run" if self.not_run else ""
        why = [self.notice or "", self.graded_so_far]
        said = [self.totals.describe(), left, *why, f"record {self.path}"]
        return f"{self.status}: {'; '.join(filter(None, said))}"

    def __repr__(self) -> str:
        return f"<Evaluated {self}>"

    @property
    def complete(self) -> bool:
        return self.status == "completed"

    @property
    def graded_so_far(self) -> str:
        """How far a grading got that was broken off; empty where it was not."""
        return "" if self.graded_by is None else self.graded_by.so_far

    @property
    def is_biased(self) -> bool:
        """Whether what was seen ended it, and no decision has an interval that allows for that."""
        return self.was_decided or self.failed_fast

    @property
    def is_shared(self) -> bool:
        """Whether cases may be in it once for each of several targets."""
        return len(self.run.about.targets) > 1

    @property
    def path(self) -> str:
        """The folder of the record."""
        return self.run.path

    @property
    def results(self) -> Sequence[Result]:
        """Every result, read from the record each time, in the order of the cases."""
        count = self.totals.trials.total
        return StoredItems(lambda: StoredRun(self.run, self.grading).results(), count, "results")

    @property
    def cases(self) -> StoredCases:
        """Every case at every target with its verdict, read from the record each time, in their
        order."""
        count = self.totals.cases.total + self.totals.unfinished
        return StoredCases(lambda: StoredRun(self.run, self.grading).cases(), count, "cases")

    def __getitem__(self, id: str) -> CaseVerdict:
        """The case of an id: `done.cases[id]`."""
        return self.cases[id]

    def __iter__(self) -> Iterator[CaseVerdict]:
        """Every case: `done.cases`."""
        return iter(self.cases)

    @property
    def pass_rate(self) -> float | None:
        """The share of cases that passed, of all that were tried; None if none was."""
        return self.totals.pass_rate

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0: complete, every case that was tried has passed, and not all
        were skipped. With `fail_under` that rate counts, with `stop` the decision."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """What the command says of such a run: 130 interrupted; 3 too many errors, or not
        completed; 1 not all passed, or a gate is not met; else 0. `max_errors` only turns 3 into 1:
        an errored case has not passed."""
        totals, decision = self.totals, self.decision
        if self.status == "interrupted":
            return 130
        ended_well = self.complete or self.failed_fast or decision is not None
        if totals.trials.errored > self.max_errors or not ended_well:
            return 3
        if decision is not None:
            return 0 if decision.is_good else 1
        if self.failed_fast:
            return 1
        if totals.unfinished:
            return 3
        if totals.pass_rate is None:
            return 1 if self.needs_tries and self.fail_under != 0 else 0
        return 0 if totals.pass_rate >= (1.0 if self.fail_under is None else self.fail_under) else 1


class CaseTrials(NamedTuple):
    """A case at a target: this is what passes or fails."""

    suite: str
    case: str
    target: str
    outcome: Outcome
    trials: tuple[Result, ...]
    """In their order; at least one."""

    @property
    def verdict(self) -> str:
        return self.outcome.verdict or UNFINISHED

    @property
    def score(self) -> float | None:
        """The mean of those trials that have a score; None where none has."""
        return find_mean(trial.score for trial in self.trials)

    @property
    def duration_s(self) -> float:
        """All trials together."""
        return fsum(trial.duration_s for trial in self.trials)

    @property
    def cost_usd(self) -> float | None:
        """What the answers cost together; None where none says what it did."""
        costs = [trial.answer.cost_usd for trial in self.trials if trial.answer is not None]
        known = [cost for cost in costs if cost is not None]
        return fsum(known) if known else None

    @property
    def telling(self) -> Result:
        """The trial that says most about the verdict: the first that has it, if any has."""
        same = (trial for trial in self.trials if trial.verdict == self.outcome.verdict)
        bad = (trial for trial in self.trials if trial.verdict != "passed")
        return next(chain(same, bad), self.trials[0])

    @property
    def why(self) -> str:
        """Why it has its verdict: how many trials passed, if there are several, and the reason of
        one."""
        told = passed_of(self.outcome) if self.outcome.repeats > 1 else ""
        return "; ".join(filter(None, (told, reason_of(self.telling))))


def fold_trials(results: Iterable[Result], stored: StoredRun) -> Iterator[CaseTrials]:
    """Every case when the last of its results has come. Held are those that lack some."""
    held: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        name, outcome = result.key[:3], stored.outcome(result)
        trials = held.pop(name, [])
        trials.append(result)
        if len(trials) < outcome.trials:
            held[name] = trials
        else:
            trials.sort(key=lambda trial: trial.key.repeat)
            yield CaseTrials(*name, outcome, tuple(trials))


def hold_to_gates(evaluated: Evaluated, options: RunOptions) -> Evaluated:
    """What came of a run, with what its options say is enough. A shard that got nothing to try
    need not reach a pass rate."""
    is_whole = options.selection.shard is None
    return replace(
        evaluated, max_errors=options.max_errors, needs_tries=is_whole,
        fail_under=options.fail_under if is_whole or evaluated.pass_rate is not None else None,
    )  # fmt: skip


def pair_targets(base: Sequence[str], head: Sequence[str]) -> dict[str, str]:
    """Which target of base each of head is compared with: the one there is, or that of its name."""
    if len(base) == len(head) == 1:
        return {head[0]: base[0]}
    return {name: name for name in head if name in base}


def read_evaluated(stored: StoredRun) -> Evaluated:
    made = make_evaluated(stored.run, stored.end, stored.totals, stored.mixed, stored.graded_by)
    return made if stored.grading is None else replace(made, grading=stored.grading)


def make_evaluated(
    run: Run, end: End, totals: Totals, mixed: tuple[str, ...], graded_by: GradedBy | None
) -> Evaluated:
    # Cases that were planned, and are in no count.
    planned = run.about.cases if end.status != "completed" else None
    not_run = max(0, (planned or 0) - totals.cases.total - totals.unfinished)
    return Evaluated(
        run, end.status, totals, end.notice, end.failed_fast, end.cap_usd, end.duration_s, None,
        mixed, not_run, end.decision, end.lost, graded_by, end.was_decided,
    )  # fmt: skip


# What is to be said of it, in sentences.


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
    by, cases = evaluated.graded_by, evaluated.totals.cases
    if not is_run(evaluated.run.path):  # it was removed while it was written
        return ""
    # An earlier grading can't be gone on with.
    if is_own and (by is None or by.complete or by.is_newest):
        resume = f"evalcase resume {name}"
        if evaluated.totals.trials.errored and (evaluated.complete or evaluated.failed_fast):
            return f"{resume} --retry-errored"
        if evaluated.cap_usd is not None:
            # It leaves room for about as much again as was spent, in two digits.
            usd = 2 * max(evaluated.cap_usd, evaluated.totals.spent_usd or 0.0) or 1.0
            raised = f"{float(f'{usd:.2g}'):.12f}".rstrip("0").rstrip(".")
            return f"{resume} --max-cost {raised}"
        if not evaluated.complete and not evaluated.failed_fast and not evaluated.lost:
            return resume
    report = f"evalcase report {name_grading(evaluated, name)}"
    if failed is not None:
        return f"{report} --case {quote(failed.case)}"
    is_bad = cases.failed or cases.ungraded or evaluated.failed_fast or evaluated.lost
    return report if is_bad else ""


def name_grading(evaluated: Evaluated, name: str) -> str:
    """What `name_run` made, for the grading that is looked at: another may have other verdicts."""
    run, option, folder = name.partition(" --runs-dir ")
    return name if evaluated.grading is None else f"{run}@{evaluated.grading}{option}{folder}"


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
    evaluated, by = read_evaluated(stored), stored.graded_by
    notes, leads = note_run(evaluated), {"grading": "grading ", "part": "", "mixed": "mixed: "}
    said = [f"{lead}{notes[topic]}" for topic, lead in leads.items() if notes[topic]]
    if (errored := stored.totals.trials.errored) > stored.totals.cases.errored:
        said.append(f"{write_count(errored, 'trial')} errored")
    is_apart = bool(notes["part"] or stored.mixed or (by is not None and by.graders))
    if stored.end.status == "completed":
        return Remark("; ".join(said), is_apart)
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
