"""Every case of a run looked at before the first target is asked: what it needs, and how often."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.case import Case
from evalcase.model.problem import Problem
from evalcase.plugins.graders import Graders
from evalcase.project.config import Config
from evalcase.project.options import RunOptions
from evalcase.run.plan import times_of
from evalcase.suites.collection import SomeSuites
from evalcase.suites.refusal import SuiteNeeds


class Survey(NamedTuple):
    """What the cases of a run need."""

    trials: dict[str, int]
    """How many trials there are of each target."""
    cases: dict[str, int]
    """How many cases there are of each target."""
    needs: dict[str, SuiteNeeds]
    """What each suite mentions that has to be there, by its path."""
    errors: tuple[Problem, ...] = ()
    """What is wrong with the suites themselves."""
    fault: ConfigError | None = None
    """What else keeps the run from starting."""


def survey_cases(
    suites: SomeSuites,
    options: RunOptions,
    config: Config,
    graders: Graders,
    warn: Callable[[str], None],
) -> Survey:
    """Go through every case, and note what it needs. Nothing is made, or imported."""
    checked = suites.check()
    found = Survey({}, {}, {})
    errors: tuple[Problem, ...] = ()
    fault: ConfigError | None = None
    try:
        for suite, case in options.selection.select(checked):
            _note_case(suite, case, options, config, found)
            graders.want(suite, case)
    except ConfigError as error:
        fault = error
    except SuiteError as error:
        errors = error.problems
    try:
        # Whatever else is wrong: what is wrong with the suites is told, too.
        deque(checked, maxlen=0)
    except SuiteError as error:
        errors = error.problems
    if not found.trials and not fault:
        fault = ConfigError("no case is left to run: look at --case, --tag, --shard and --limit")
    if suites.warnings and not errors:
        noun = "warning" if suites.warnings == 1 else "warnings"
        warn(f"the suites have {suites.warnings} {noun}, which `evalcase check` shows")
    return found._replace(errors=errors, fault=fault)


def _note_case(suite: str, case: Case, options: RunOptions, config: Config, found: Survey) -> None:
    needs = found.needs.get(suite)
    if needs is None:
        needs = found.needs[suite] = SuiteNeeds(set(), set())
    if case.needs_judge and not case.skip:
        needs.judged.add(case.id)
    for name in targets_of(case, options, config):
        found.trials[name] = found.trials.get(name, 0) + times_of(case, options.repeat)
        found.cases[name] = found.cases.get(name, 0) + 1
        if not options.targets:
            needs.targets.add(name)


def targets_of(case: Case, options: RunOptions, config: Config) -> tuple[str, ...]:
    """The names of the targets of a case: those of the command line, else its own, else the
    default."""
    names = options.targets or case.targets
    if names:
        return tuple(dict.fromkeys(names))
    if config.target is None:
        raise ConfigError(
            f"case `{case.id}` names no target: say --target NAME, or set `target` in evalcase.toml"
        )
    return (config.target,)


def chosen_cases(suites: SomeSuites, options: RunOptions) -> Iterator[tuple[str, Case]]:
    """The cases of a run, with the path of the suite of each."""
    return options.selection.select(suites)
