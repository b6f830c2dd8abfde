"""What keeps a run from asking: of all that `check` finds, what the run would use.

It is found in the same way, at the same places, and before anything of the project is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.problem import Problem, in_order
from evalcase.plugins.known import InProject
from evalcase.plugins.target_names import object_to_target
from evalcase.project.config import Config
from evalcase.suites.check import config_problems_of
from evalcase.suites.load import load_file

if TYPE_CHECKING:
    from evalcase.model.finding import Unfit
    from evalcase.model.known import What


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
    problems = config_problems_of(config, _names_in(config, needs))
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
    for name in needs.targets:
        unfit = object_to_target(name, config, of_suite=False)
        if unfit is not None:
            where = f"{needs.named_by} {name}"
            yield Problem(unfit.code, unfit.message, where, hint=unfit.hint)
