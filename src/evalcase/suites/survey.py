"""Every case of a run looked at before the first target is asked: what it needs, and how often."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from evalcase.errors import ConfigError
from evalcase.model.case import Case
from evalcase.plugins.graders import Graders
from evalcase.project.config import Config
from evalcase.project.options import RunOptions
from evalcase.run.plan import times_of
from evalcase.suites.collection import SomeSuites


def survey_cases(
    suites: SomeSuites,
    options: RunOptions,
    config: Config,
    graders: Graders,
    warn: Callable[[str], None],
) -> dict[str, int]:
    """How many trials there are of each target.

    Raise SuiteError with every problem of the suites, or ConfigError if a case can't be run.
    """
    checked = suites.check()
    trials: dict[str, int] = {}
    fault: ConfigError | None = None
    try:
        for suite, case in options.selection.select(checked):
            _make_graders(suite, case, graders)
            for name in targets_of(case, options, config):
                trials[name] = trials.get(name, 0) + times_of(case, options.repeat)
    except ConfigError as error:
        fault = error
    # Whatever else is wrong: an invalid suite is what to hear of first.
    deque(checked, maxlen=0)
    if fault is not None:
        raise fault
    if not trials:
        raise ConfigError("no case is left to run: look at --case, --tag, --shard and --limit")
    if suites.warnings:
        noun = "warning" if suites.warnings == 1 else "warnings"
        warn(f"the suites have {suites.warnings} {noun}, which `evalcase check` shows")
    return trials


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


def _make_graders(suite: str, case: Case, graders: Graders) -> None:
    try:
        graders.of(case)
    except ConfigError as error:
        raise ConfigError(f"{suite}: case `{case.id}`: {error}") from error


def chosen_cases(suites: SomeSuites, options: RunOptions) -> Iterator[tuple[str, Case]]:
    """The cases of a run, with the path of the suite of each."""
    return options.selection.select(suites)
