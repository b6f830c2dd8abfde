"""What the record of a run says of its plan: `run.json` before the first trial, and what verdicts
rest on."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from evalcase import __version__
from evalcase.config.targets import kind_of, version_of
from evalcase.errors import ConfigError, RecordError
from evalcase.report.evaluated import Evaluated, count_not_run, hold_to_gates
from evalcase.runner.plan import Plan
from evalcase.store.folder import GitState, Run, RunAbout, SelectedCases, read_git_state
from evalcase.store.rows import Basis, End
from evalcase.store.stored import StoredRun
from evalcase.targets.usage import prices_version
from evalcase.types.result import Totals
from evalcase.types.target import TargetKind, TargetVersion, kind_of_targets
from evalcase.types.value import replace


def describe_plan(plan: Plan) -> RunAbout:
    """What `run.json` says: enough to resume the run, and to see later what has changed."""
    basis = describe_basis(plan)
    kinds = [_kind_of(name, plan) for name in (*plan.trials, *plan.users)]
    is_priced = any(kind is not None and kind.priced for kind in kinds)
    options, scrub = plan.options, plan.scrubber.text
    failed_of = options.selection.failed_of
    git = GitState() if options.no_exec else read_git_state(plan.config.root)
    return RunAbout(
        options=replace(options, name=None, note=None).to_dict(),
        evalcase=__version__,
        python=sys.version.split(maxsplit=1)[0],
        prices=prices_version() if is_priced else None,
        suites=basis.suites,
        targets=tuple(plan.trials),
        target_versions=find_versions(plan),
        default_target=plan.config.target,
        trials=plan.planned,
        cases=plan.cases,
        selected=None if plan.selected is None else SelectedCases(*plan.selected),
        failed_of=None if failed_of is None else failed_of.run,
        cwd=os.path.relpath(plan.environment.cwd, plan.config.root),
        dealt=basis.dealt,
        rests_on=basis.rests_on,
        name=options.name and scrub(options.name),
        note=options.note and scrub(options.note),
        commit=git.commit,
        branch=git.branch,
        dirty=git.dirty,
    )


def describe_basis(plan: Plan) -> Basis:
    """What verdicts rest on beside the answers, as it is now."""
    return Basis(plan.suites.hashes(), plan.selector.dealt, plan.graders.rests_on() or None)


def _kind_of(name: str, plan: Plan) -> TargetKind | None:
    if name in plan.given_targets:
        return kind_of_targets(plan.askable(name))
    with suppress(ConfigError):
        return kind_of(name, plan.config)
    return None


def find_versions(plan: Plan) -> dict[str, TargetVersion]:
    """The version of each target, by its name. They have to be open."""
    return {
        name: version_of(target, plan.config.targets.get(name))
        for name, target in sorted({**plan.targets, **plan.users}.items())
    }


def find_changes(
    plan: Plan, run: Run, last: Mapping[str, TargetVersion]
) -> dict[str, TargetVersion]:
    """The targets that changed since they were last asked, with their versions now. `last` are the
    changes that the journal has. A warning tells of each."""
    changed = {}
    for name, now in find_versions(plan).items():
        before = last.get(name) or run.about.target_versions.get(name)
        if before is not None and before != now:
            changed[name] = now
            what = "its configuration" if before.options != now.options else "its code"
            plan.warn(f"target `{name}` changed since this run started: {what}")
    return changed


def conclude_run(
    plan: Plan, run: Run, end: End, totals: Totals | None, mixed: tuple[str, ...], grading: int
) -> Evaluated:
    """What came of a run. Without `totals`, those of the record."""
    graded_by = None
    if totals is None or grading > 1:
        with StoredRun(run) as stored:
            totals = totals or _count_stored(stored)
            graded_by = stored.graded_by if grading > 1 and end.status != "failed" else None
    evaluated = Evaluated(
        run, end.status, totals, end.notice, end.failed_fast, end.cap_usd, end.duration_s,
        mixed=mixed, not_run=count_not_run(run, end.status, totals),
        decision=end.decision, lost=end.lost, was_decided=end.was_decided,
        graded_by=graded_by,
    )  # fmt: skip
    return hold_to_gates(evaluated, plan.options)


def _count_stored(stored: StoredRun) -> Totals:
    try:
        return stored.totals
    except RecordError:  # it is the record that failed
        return Totals()
