"""What keeps a run from asking: of all that `check` finds, what the run would use.

It is found in the same way, at the same places, and before anything of the project is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.finding import Unfit
from evalcase.model.problem import Problem, in_order
from evalcase.model.value import replace
from evalcase.plugins.known import InProject
from evalcase.plugins.registry import is_known
from evalcase.plugins.target_names import object_to_target, split_name
from evalcase.project.config import Config
from evalcase.suites.check import config_problems_of
from evalcase.suites.load import load_file
from evalcase.text.credentials import mask_credentials

if TYPE_CHECKING:
    from evalcase.model.known import What


_SEEMING = frozenset({"missing-module", "missing-program"})
"""What is not found here, and may be there where it is needed."""


class SuiteNeeds(NamedTuple):
    """What a run needs of what one suite mentions."""

    targets: set[str]
    """The names that its cases are asked under, where the command line doesn't name others."""
    judged: set[str]
    """The ids of cases that the configured judge has to grade."""
    asked: set[str]
    """The targets that graders name, and those that play users: they are asked whatever is
    tested."""
    code: set[str]
    """The functions that grade, as `module:function`."""
    programs: set[str]
    """The programs that grade."""
    scripts: set[str]
    """The files that they run."""

    @property
    def by_sort(self) -> dict[What, set[str]]:
        return {
            "target": self.targets,
            "asked": self.asked,
            "code": self.code,
            "program": self.programs,
            "script": self.scripts,
        }


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
    forbidden: Mapping[str, Unfit] = MappingProxyType({})
    """Targets that may not be asked in this run, with the reason."""


def check_plan(
    config: Config, needs: Needs, errors: Sequence[Problem] = (), invalid: Sequence[str] = (),
    broken: Mapping[str, Unfit] | None = None,
) -> list[Problem]:  # fmt: skip
    """Everything that keeps a run from asking, at the places where `check` finds it.

    `errors` are those of the suites themselves, and `invalid` documents that have some. Nothing is
    read again where all is well. `broken` are targets that could not be opened. That a module or a
    program seems to be missing keeps no run from trying; it is told with all else.
    """
    of_suites: list[Problem] = []
    unfit = {**needs.forbidden, **(broken or {})}
    tried = broken is not None
    names = set(needs.targets)
    # Which cases there are in a file with mistakes isn't known: all that it mentions counts.
    unknown = dict.fromkeys(path for path in invalid if path not in needs.suites)
    for path, needed in (*needs.suites.items(), *unknown.items()):
        known = _Needed(config, needed, unfit, replaced=bool(needs.targets), tried=tried)
        if needs.held:
            of_suites += known.objections(path)
        elif needed is None or any(known.objections(path)):
            found = load_file(path, keep=False, known=known).problems
            of_suites += [problem for problem in found if known.concerns(problem)]
        names |= known.mentioned if needed is None else needed.targets | needed.asked
    seen = set(of_suites)
    of_suites += [problem for problem in errors if problem not in seen]
    if config.judge is not None:
        names.add(config.judge.target)
    if unknown and config.target is not None and not needs.targets:
        names.add(config.target)  # a case with a mistake may be one that names no other
    problems = config_problems_of(config, frozenset(names), unfit)
    problems += _object_to_named(config, needs, unfit)
    found = [*problems, *of_suites]
    if not tried and all(each.code in _SEEMING for each in found):
        # It is known for certain once it is imported or started, wherever that is.
        return []
    return in_order([replace(problem, stops=True) for problem in found])


def place_broken(name: str, error: ConfigError, config: Config, needs: Needs) -> ConfigError:
    """Why a target can't be opened, at the place where it is named; and with it all that `check`
    finds to be wrong with targets of the run, so that nobody has to try them one by one."""
    broken = {name: Unfit("bad-target", str(error))}
    problems = check_plan(config, needs, broken=broken)
    # One that only a grader asks which a program gives, or the command line, stands nowhere.
    return ConfigError.of(problems) if problems else error


def refuse_run(problems: Sequence[Problem], config: Config, needs: Needs) -> None:
    """Raise what a run is refused with, if there is anything: ConfigError where no suite is at
    fault."""
    if not problems:
        return
    elsewhere = {_place_of(name, needs) for name in needs.targets}
    if config.source is not None:
        sources = config.source.document, config.source.unreadable
        elsewhere |= {each.path for each in sources if each is not None}
    if all(problem.path in elsewhere for problem in problems):
        raise ConfigError.of(problems)
    raise SuiteError(problems)


class _Needed(InProject):
    """The same knowledge, for what a run needs of one suite: nobody objects to the rest.

    Without `needs` it is all that the suite mentions, but for targets that others have `replaced`.
    `unfit` are targets of which somebody knows better, from having `tried` them or otherwise.
    """

    def __init__(
        self, config: Config, needs: SuiteNeeds | None, unfit: Mapping[str, Unfit], *,
        replaced: bool, tried: bool,
    ) -> None:  # fmt: skip
        super().__init__(lambda: config)
        self._needs = needs
        self._replaced = replaced
        self._unfit = unfit
        self._tried = tried
        self.mentioned: set[str] = set()
        """The targets that were asked about."""

    def objections(self, path: str) -> Iterator[Problem]:
        """What speaks against the suite, found out without reading it again, so without places."""
        assert self._needs is not None
        for what, names in self._needs.by_sort.items():
            for name in sorted(names):
                unfit = self.object_to(what, name)
                if unfit is not None:
                    yield Problem(unfit.code, unfit.message, path, hint=unfit.hint)
        for case in sorted(self._needs.judged):
            unfit = self.object_to("judge", "criteria")
            if unfit is not None:
                yield Problem(unfit.code, unfit.message, path, hint=unfit.hint, case=case)

    def object_to_call(self, function: str, arguments: Collection[str]) -> Unfit | None:
        """What is used was, or will be, looked at once it is imported."""
        del function, arguments
        return None

    def object_to(self, what: What, name: str) -> Unfit | None:
        if not self._uses(what, name):
            return None
        if what in ("target", "asked"):
            self.mentioned.add(name)
        elif what in ("code", "program", "script") and self._tried:
            return None  # those of a run whose targets were tried are loaded
        unfit = super().object_to(what, name)
        if unfit is None and what in ("target", "asked") and name not in self.config.targets:
            unfit = self._unfit.get(name)
        return unfit

    def _uses(self, what: What, name: str) -> bool:
        if self._needs is None:
            return what != "target" or not self._replaced
        needed = self._needs.by_sort.get(what)
        return needed is None or name in needed

    def concerns(self, problem: Problem) -> bool:
        """Whether it keeps the run from asking; what else is found only warns."""
        if problem.code == "no-judge":
            return self._needs is None or problem.case in self._needs.judged
        return problem.severity == "error" or problem.code in ("undefined-target", *_SEEMING)


def _object_to_named(
    config: Config, needs: Needs, broken: Mapping[str, Unfit]
) -> Iterator[Problem]:
    for name in needs.targets:
        unfit = object_to_target(name, config, of_suite=False)
        if unfit is None and name not in config.targets:
            unfit = broken.get(name)
        if unfit is not None:
            # It was typed, and nobody has to be shown a password of theirs.
            hint = unfit.hint and mask_credentials(unfit.hint)
            message = mask_credentials(unfit.message)
            yield Problem(unfit.code, message, _place_of(name, needs), hint=hint)


def _place_of(target: str, needs: Needs) -> str:
    """What stands for a file where a target is named by none."""
    kind, value = split_name(target)
    if is_known("targets", kind):
        # Its kind is no user, and what follows no password: `openai:gpt@localhost:8000`.
        shown = target.removesuffix(value) + mask_credentials(value)
    else:
        shown = mask_credentials(f"//{target}")[2:]  # an address without its scheme, perhaps
    return f"{needs.named_by} {shown}"
