"""What `run.json` says of a plan: enough to resume it, and to see later what has changed."""

from __future__ import annotations

import os
import platform
from hashlib import sha256
from typing import Any

from evalcase import __version__
from evalcase.evaluation.plan import Plan
from evalcase.record.folder import Run
from evalcase.targets.chat.prices import prices_version

_PRICED = frozenset({"openai", "anthropic"})
"""The kinds of targets whose answers have a price."""


def describe_plan(plan: Plan) -> dict[str, Any]:
    """All of it. What is in there is a name, a path, a number or a hash, and none is a secret."""
    return {
        "evalcase": __version__,
        "python": platform.python_version(),
        "prices": _prices_version(plan),
        "options": plan.options.to_dict(),
        "suites": plan.suites.hashes(),
        "targets": sorted(plan.trials),
        "target_hashes": _target_hashes(plan),
        "default_target": plan.config.target,
        "trials": plan.planned,
        "cases": plan.cases,
        "cwd": os.path.relpath(plan.world.cwd, plan.config.root),
    }


def _prices_version(plan: Plan) -> str | None:
    """Where prices come from, if a model is asked: only then it is looked for."""
    configured = plan.config.targets
    kinds = {configured.get(name, {}).get("kind", name.partition(":")[0]) for name in plan.trials}
    return prices_version() if not kinds.isdisjoint(_PRICED) else None


def warn_of_changes(plan: Plan, run: Run) -> None:
    """Say which targets are not what they were when the run began."""
    before = run.about.get("target_hashes")
    for name, now in _target_hashes(plan).items():
        if isinstance(before, dict) and before.get(name, now) != now:
            plan.warn(f"target `{name}` is configured otherwise than when the run was begun")


def _target_hashes(plan: Plan) -> dict[str, str]:
    """What the configuration says of each target, as a hash: it may say what is secret."""
    told = {name: plan.config.targets.get(name) for name in sorted(plan.trials)}
    return {
        name: sha256(repr(options).encode("utf-8", "backslashreplace")).hexdigest()[:16]
        for name, options in told.items()
    }
