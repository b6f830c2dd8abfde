"""What keeps suites and a configuration from being used: all of it, with places, in one pass.

`check_project` looks at files as they are; `check_plan` at what a run would use of them, and finds
the same there. Neither imports code of the project, opens a connection or starts anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.problem import Problem, in_order
from evalcase.plugins.known import InProject
from evalcase.project.config_file import holds_config
from evalcase.read.discover import discover
from evalcase.read.document import Format
from evalcase.suites.load import Loaded, load_file, load_text
from evalcase.system.project_root import project_root

if TYPE_CHECKING:
    from evalcase.model.finding import Unfit
    from evalcase.model.known import What
    from evalcase.project.config import Config


class Project:
    """Where suites are checked: a folder, and the configuration of the project it belongs to."""

    def __init__(self, folder: str, seen_from: str | None = None) -> None:
        self._folder = folder
        self._seen_from = seen_from
        self.known = InProject(self._read)

    def _read(self) -> Config:
        from evalcase.project.config import read_config

        return read_config(self._folder, self._seen_from)

    def config_problems(self) -> list[Problem]:
        """What is wrong with the configuration, if there is one: settings and targets."""
        if not holds_config(project_root(os.path.realpath(self._folder))):
            return []
        return _config_problems(self.known.config)


def check_project(
    paths: Iterable[str], project: Project, stdin_format: Format = "yaml"
) -> Iterator[Loaded]:
    """The configuration, if something is wrong with it, then each file that paths stand for."""
    problems = project.config_problems()
    if problems:
        yield Loaded(problems[0].path, None, problems, 0)
    for path in discover(paths):
        if isinstance(path, Problem):
            yield Loaded(path.path, None, [path], 0, is_read=False)
        else:
            yield load_file(path, stdin_format, keep=False, known=project.known)


def check_text_as(text: str, path: str, format: Format, project: Project) -> list[Problem]:
    """The problems of a text that isn't saved yet, as if it stood at its path."""
    return load_text(text, format, path, project.known).problems


def check_config_text(text: str, path: str) -> list[Problem]:
    """The problems of a configuration that isn't saved yet."""
    from evalcase.project.config import config_of_text
    from evalcase.read.source import UnreadableError, encode

    try:
        data = encode(text, path)
    except UnreadableError as error:
        return [error.problem]
    folder = os.path.dirname(os.path.realpath(path))
    config = config_of_text(data, os.path.realpath(path), folder, path)
    return _config_problems(config) if config is not None else []


def _config_problems(config: Config, used: frozenset[str] | None = None) -> list[Problem]:
    if config.source is None:
        return []
    from evalcase.plugins.target_names import find_wrong_targets

    return config.problems(find_wrong_targets(config, used))


class SuiteNeeds(NamedTuple):
    """What a run needs of what one suite mentions."""

    targets: set[str]
    """The names that its cases are asked under, where the command line doesn't name others."""
    judged: set[str]
    """The ids of cases that only a judge can grade, while there is none."""


class Needs(NamedTuple):
    """What has to be there for a run."""

    suites: Mapping[str, SuiteNeeds]
    """By the path of each."""
    targets: Sequence[str] = ()
    """Those that take the place of what suites name."""
    named_by: str = "--target"
    """Who named them."""
    held: bool = False
    """Whether the suites come from a program, and have no text to point into."""


def check_plan(config: Config, needs: Needs, errors: Sequence[Problem] = ()) -> list[Problem]:
    """Everything that keeps a run from asking, at the places where `check` finds it.

    `errors` are those of the suites themselves. Nothing is read again where all is well.
    """
    problems = _config_problems(config, _names_in(config, needs))
    problems += _object_to_named(config, needs)
    for path, needed in needs.suites.items():
        known = _Needed(config, needed)
        if needs.held:
            problems += known.objections(path)
        elif any(known.objections(path)):
            found = load_file(path, keep=False, known=known).problems
            problems += [problem for problem in found if known.concerns(problem)]
    seen = set(problems)
    problems += [problem for problem in errors if problem not in seen]
    return in_order([replace(problem, stops=True) for problem in problems])


def _names_in(config: Config, needs: Needs) -> frozenset[str]:
    names = frozenset(needs.targets).union(*(each.targets for each in needs.suites.values()))
    return names if config.judge is None else names | {config.judge.target}


def refuse(problems: Sequence[Problem], config: Config) -> None:
    """Raise what a run is refused with, if there is anything: ConfigError where no suite is at
    fault."""
    if not problems:
        return
    document = config.source.document if config.source is not None else None
    shown = document.path if document is not None else None
    if all(problem.span is None or problem.path == shown for problem in problems):
        raise ConfigError.of(problems)
    raise SuiteError(problems)


class _Needed(InProject):
    """The same knowledge, for what a run needs of one suite: nobody objects to the rest."""

    def __init__(self, config: Config, needs: SuiteNeeds) -> None:
        super().__init__(lambda: config)
        self._needs = needs

    def objections(self, path: str) -> Iterator[Problem]:
        """What speaks against the suite, found out without reading it again, so without places."""
        for name in sorted(self._needs.targets):
            unfit = self.object_to("target", name)
            if unfit is not None:
                yield Problem(unfit.code, unfit.message, path, hint=unfit.hint)
        for case in sorted(self._needs.judged):
            unfit = self.object_to("judge", "criteria")
            if unfit is not None:
                yield Problem(unfit.code, unfit.message, path, hint=unfit.hint, case=case)

    def object_to(self, what: What, name: str) -> Unfit | None:
        if what == "target" and name not in self._needs.targets:
            return None
        return super().object_to(what, name)

    def concerns(self, problem: Problem) -> bool:
        """Whether it keeps the run from asking; what else is found only warns."""
        if problem.code == "no-judge":
            return problem.case in self._needs.judged
        return problem.severity == "error" or problem.code == "undefined-target"


def _object_to_named(config: Config, needs: Needs) -> Iterator[Problem]:
    if not needs.targets:
        return
    from evalcase.plugins.target_names import object_to_target

    for name in needs.targets:
        unfit = object_to_target(name, config, of_suite=False)
        if unfit is not None:
            where = f"{needs.named_by} {name}"
            yield Problem(unfit.code, unfit.message, where, hint=unfit.hint)
