"""What --no-exec forbids of a run: targets and graders that would start or import anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from evalcase.errors import ConfigError
from evalcase.model.finding import Unfit
from evalcase.model.problem import Problem
from evalcase.plugins.graders import Graders
from evalcase.plugins.registry import find_target_kind
from evalcase.plugins.target_names import name_target
from evalcase.plugins.targets import describe_forbidden_target
from evalcase.project.config import Config
from evalcase.suites.refusal import SuiteNeeds


def find_forbidden_targets(
    tested: Iterable[str], needs: Mapping[str, SuiteNeeds], config: Config
) -> dict[str, Unfit]:
    """Why each target that would run code can't be asked: those that are `tested`, and those that
    suites need."""
    names = set(tested).union(*[each.asked for each in needs.values()])
    if config.judge is not None and any(each.judged for each in needs.values()):
        names.add(config.judge.target)
    found: dict[str, Unfit] = {}
    for name in sorted(names):
        with suppress(ConfigError):  # what there is no such kind of is told elsewhere
            if find_target_kind(name_target(name, config).kind).runs_code:
                found[name] = Unfit("bad-target", describe_forbidden_target(name))
    return found


def place_forbidden_graders(graders: Graders, config: Config, *, held: bool) -> Sequence[Problem]:
    """A problem for each place that names a grader which would run code."""
    faults = graders.find_forbidden()
    if not faults:
        return ()
    from evalcase.suites.load_faults import place_load_faults

    return place_load_faults(faults, config, held=held, whatever_else=True)
