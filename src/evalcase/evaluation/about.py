"""What `run.json` says of a plan: enough to resume it, and to see later what has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from evalcase import __version__
from evalcase.config.targets import kind_of, version_of
from evalcase.errors import ConfigError
from evalcase.evaluation.plan import Plan
from evalcase.store.folder import Run, RunAbout, SelectedCases
from evalcase.store.rows import Basis, Row
from evalcase.store.stored import basis_of_run
from evalcase.types.target import TargetKind, TargetVersion, kind_of_targets
from evalcase.types.value import replace

if TYPE_CHECKING:
    from evalcase.evaluation.grading import By


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
        from evalcase.store.stored import StoredRun

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
