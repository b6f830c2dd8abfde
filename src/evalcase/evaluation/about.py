"""What `run.json` says of a plan: enough to resume it, and to see later what has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any

from evalcase import __version__
from evalcase.evaluation.plan import Plan
from evalcase.model.codec import decode_object, encode_object
from evalcase.model.target import Target, TargetVersion
from evalcase.plugins.target_names import split_name
from evalcase.record.folder import Run

_PRICED = frozenset({"openai", "anthropic"})
"""The kinds of targets whose answers have a price."""
_NO_MATTER = frozenset({"concurrency", "price", "rpm", "tpm"})
"""Options that decide no answer."""


def describe_plan(plan: Plan) -> dict[str, Any]:
    """All of it. What is in there is a name, a path, a number or a hash, and none is a secret."""
    about = {
        "evalcase": __version__,
        "python": sys.version.split(maxsplit=1)[0],
        "prices": _prices_version(plan),
        "options": plan.options.to_dict(),
        "suites": plan.suites.hashes(),
        "targets": list(plan.trials),
        "target_versions": {
            name: encode_object(each) for name, each in find_versions(plan).items()
        },
        "default_target": plan.config.target,
        "trials": plan.planned,
        "cases": plan.cases,
        "selected": None if plan.selected is None else list(plan.selected),
        "failed_of": failed_of.run if (failed_of := plan.options.selection.failed_of) else None,
        "cwd": os.path.relpath(plan.world.cwd, plan.config.root),
    }
    if plan.choice.dealt is not None:
        about["dealt"] = plan.choice.dealt
    return about


def _prices_version(plan: Plan) -> str | None:
    """Where prices come from, if a model is asked: only then it is looked for."""
    configured = plan.config.targets
    kinds = {
        configured.get(name, {}).get("kind", split_name(name)[0])
        for name in (*plan.trials, *plan.users)
    }
    if kinds.isdisjoint(_PRICED):
        return None
    from evalcase.targets.chat.prices import prices_version

    return prices_version()


def find_versions(plan: Plan) -> dict[str, TargetVersion]:
    """What each target is just now, by its name. They have to be open."""
    return {
        name: TargetVersion(_hash_options(plan.config.targets.get(name)), _hash_sources(target))
        for name, target in sorted({**plan.targets, **plan.users}.items())
    }


def find_changes(
    plan: Plan, run: Run, last: Mapping[str, TargetVersion]
) -> dict[str, TargetVersion]:
    """The targets that are not what they were when they were last asked, and what they are now.

    `last` are those that the journal knows as changed before. Each is told of.
    """
    first, changed = run.about.get("target_versions"), {}
    for name, now in find_versions(plan).items():
        before = last.get(name) or _read_version(first, name)
        if before is not None and before != now:
            changed[name] = now
            what = "its configuration" if before.options != now.options else "its code"
            plan.warn(f"target `{name}` was changed since the run was begun: {what}")
    return changed


def say_nothing_left(run: str, changed: Collection[str]) -> str:
    """That a run has all of its answers. Those of a target that was changed since are not asked
    again: they are what it said then."""
    said = f"nothing is left to do: {run} is complete"
    if not changed:
        return f"{said}, and what its answers were asked and graded by is as it was"
    names = ", ".join(f"`{name}`" for name in changed)
    return f"{said}. Its answers are of {names} before the change; `evalcase run` asks anew"


def _read_version(versions: object, name: str) -> TargetVersion | None:
    """The version of a target that a run began with, as far as its record says."""
    try:
        return decode_object(TargetVersion, versions[name]) if isinstance(versions, dict) else None
    except (KeyError, TypeError, ValueError):
        return None


def _hash_options(options: Mapping[str, Any] | None) -> str:
    """What the configuration says of a target, as a hash: it may say what is secret."""
    told = {key: value for key, value in (options or {}).items() if key not in _NO_MATTER}
    return _hash(repr(sorted(told.items())))


def _hash_sources(target: Target) -> str:
    # One that a program brings along may have less than it should.
    files = target.sources() if Target in type(target).__mro__ else {}
    return _hash(repr(sorted(files.items()))) if files else ""


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
