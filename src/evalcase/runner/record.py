"""What `run.json` says of a plan, and what a run comes to once its journal is closed."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress

from evalcase import __version__
from evalcase.config.targets import kind_of, version_of
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.format.load import WantsCase
from evalcase.format.source import UnreadableError
from evalcase.runner.evaluated import Evaluated, count_not_run, hold_to_gates
from evalcase.runner.plan import Plan
from evalcase.runner.regrade import By
from evalcase.runner.schedule import Job
from evalcase.store.case_lines import read_line_hashes, write_case_lines
from evalcase.store.folder import Run, RunAbout, SelectedCases
from evalcase.store.rows import Basis, End, Row, Status
from evalcase.store.stored import StoredRun, basis_of_run
from evalcase.types.case import Case
from evalcase.types.result import Totals
from evalcase.types.target import TargetKind, TargetVersion, kind_of_targets
from evalcase.types.value import replace
from evalcase.util.table import Table, mark_of


def describe_plan(plan: Plan) -> RunAbout:
    basis = describe_basis(plan)
    return RunAbout(
        options=plan.options.to_dict(),
        evalcase=__version__,
        python=sys.version.split(maxsplit=1)[0],
        prices=_prices_version(plan),
        suites=basis.suites,
        targets=tuple(plan.trials),
        target_versions=find_versions(plan),
        default_target=plan.config.target,
        trials=plan.planned,
        cases=plan.cases,
        selected=None if plan.selected is None else SelectedCases(*plan.selected),
        failed_of=failed_of.run if (failed_of := plan.options.selection.failed_of) else None,
        cwd=os.path.relpath(plan.environment.cwd, plan.config.root),
        dealt=basis.dealt,
        rests_on=basis.rests_on,
    )


def describe_basis(plan: Plan) -> Basis:
    """What verdicts rest on beside the answers, as it is now."""
    return Basis(plan.suites.hashes(), plan.selector.dealt, plan.graders.rests_on() or None)


def find_new_basis(plan: Plan, run: Run, last: Basis | None, by: By | None) -> list[Row]:
    """The row that says what all verdicts of a run rest on by now, since they were graded by it or
    would be graded the same; none if that is what they rested on before: `last`, or what the run
    began with."""
    now = describe_basis(plan)
    if by is not None and by.recorded:
        # The cases are no others than they were.
        cases = StoredRun(run, by.cases_of).basis
        now = replace(now, suites=cases.suites, dealt=cases.dealt)
    return [now] if now != (last or basis_of_run(run)) else []


def _prices_version(plan: Plan) -> str | None:
    """Where prices come from, if a model is asked: only then it is looked for."""
    kinds = [_kind_of(name, plan) for name in (*plan.trials, *plan.users)]
    if not any(kind is not None and kind.priced for kind in kinds):
        return None
    from evalcase.targets.chat.prices import prices_version

    return prices_version()


def _kind_of(name: str, plan: Plan) -> TargetKind | None:
    if name in plan.given_targets:
        return kind_of_targets(plan.askable(name))
    try:
        return kind_of(name, plan.config)
    except ConfigError:
        return None


def find_versions(plan: Plan) -> dict[str, TargetVersion]:
    """What each target is just now, by its name. They have to be open."""
    return {
        name: version_of(target, plan.config.targets.get(name))
        for name, target in sorted({**plan.targets, **plan.users}.items())
    }


def find_changes(
    plan: Plan, run: Run, last: Mapping[str, TargetVersion]
) -> dict[str, TargetVersion]:
    """The targets that are not what they were when they were last asked, and what they are now.

    `last` are those that the journal knows as changed before. Each is told of.
    """
    changed = {}
    for name, now in find_versions(plan).items():
        before = last.get(name) or run.about.target_versions.get(name)
        if before is not None and before != now:
            changed[name] = now
            what = "its configuration" if before.options != now.options else "its code"
            plan.warn(f"target `{name}` changed since this run started: {what}")
    return changed


def say_nothing_left(run: str, changed: Collection[str]) -> str:
    """That a run has all of its answers. Those of a target that was changed since are not asked
    again: they are what it said then."""
    said = f"nothing to do: {run} is complete"
    if not changed:
        return f"{said}, and its questions and graders have not changed"
    names = ", ".join(f"`{name}`" for name in changed)
    return f"{said}. Its answers are from before {names} changed; `evalcase run` asks again"


def say_gone(trials: int) -> str:
    """That results are of trials which the suites no longer have."""
    are = "1 trial is" if trials == 1 else f"{trials:,} trials are"
    return f"{are} no longer part of the suites"


def say_broken(case: str) -> str:
    """That a conversation was begun, and has no result."""
    return (
        f"the conversation of case {case} was interrupted when the run ended: it starts over, "
        "in a new session"
    )


def say_without_result(missing: int, planned: int) -> str:
    return f"{missing:,} of {planned:,} trials {'has' if missing == 1 else 'have'} no result"


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


def conclude_run(
    plan: Plan, run: Run, end: End, work: Job, *, is_new: bool, is_failed: bool
) -> Evaluated:
    """`is_failed`: whether it is the record itself that failed."""
    totals, graded_by = (None if is_failed else work.totals()), None
    if totals is None or work.grading > 1:  # else the record need not be gone through again
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
        keep_case_lines(plan, run, are_needed=not is_fine)


def _count_kept(kept: StoredRun) -> Totals:
    """What the results that are on disk come to; none, if nobody can read them."""
    try:
        return kept.totals
    except RecordError:
        return Totals()
