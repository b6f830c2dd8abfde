"""What a run needs, and everything that keeps it from starting, at the places where `check` finds
it. Nothing of the project is imported or started for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import NamedTuple

from msgspec import field

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import Config
from evalcase.config.registry import is_known
from evalcase.config.targets import (
    describe_forbidden_target,
    find_wrong_targets,
    kind_of,
    object_to_target,
    split_name,
)
from evalcase.errors import ConfigError, SuiteError
from evalcase.format.load import find_case_span, load_file
from evalcase.runner.graders import GraderFault
from evalcase.types.grader import What
from evalcase.types.problem import Problem, Unfit, in_order
from evalcase.types.value import Value, replace
from evalcase.util.secrets import mask_credentials

_NO_TARGETS: Mapping[str, Unfit] = MappingProxyType({})
_SEEMING = frozenset({"missing-module", "missing-program"})
"""What is not found here, and may be there where it is needed."""
_STOPPING = _SEEMING | {"undefined-target", "no-judge"}
"""Warnings of `check` that keep a run from starting."""


class SuiteNeeds(Value, frozen=True):
    """What a run needs of what one suite mentions."""

    mentions: dict[What, set[str]] = field(default_factory=dict)
    """The targets of its cases, unless the command line names others; targets that graders ask or
    that play users; functions, programs and scripts that grade."""
    judged: set[str] = field(default_factory=set)
    """The ids of cases that the configured judge has to grade."""

    def add(self, what: What, names: Iterable[str]) -> None:
        self.mentions.setdefault(what, set()).update(names)


class Needs(NamedTuple):
    """What has to be there for a run."""

    suites: Mapping[str, SuiteNeeds]
    """By the path of each suite."""
    targets: Sequence[str] = ()
    """Those that take the place of the targets that suites name."""
    named_by: str = "--target"
    """The option or parameter that names them."""
    held: bool = False
    """Whether the suites come from a program, and have no text to point into."""
    forbidden: Mapping[str, Unfit] = _NO_TARGETS
    """Targets that this run may not ask, with the reason."""


class _RunCatalogue(Catalogue):
    """Objects to what keeps a run from starting, and notes the targets that are mentioned."""

    def __init__(self, config: Config, needs: Needs, broken: Mapping[str, Unfit] | None) -> None:
        super().__init__(config)
        self._is_replaced = bool(needs.targets)
        self._is_loaded = broken is not None  # graders are loaded before targets are opened
        self.unfit = {**needs.forbidden, **(broken or {})}
        self.targets = set(needs.targets)

    def object_to(self, what: What, name: str) -> Unfit | None:
        if what == "target" and self._is_replaced:
            return None
        if what in ("target", "asked"):
            self.targets.add(name)
            return object_to_target(name, self.config, of_suite=True, broken=self.unfit)
        if what in ("code", "program", "script") and self._is_loaded:
            return None
        return super().object_to(what, name)


class _Objections(Catalogue):
    """Objects to what was found to be unusable, so that reading a file again gives its places."""

    def __init__(self, unfit: Mapping[tuple[What | None, str], Unfit], judge: Catalogue) -> None:
        super().__init__()
        self._unfit = unfit
        self._judge = judge
        self.told: set[tuple[What | None, str]] = set()

    def object_to(self, what: What, name: str) -> Unfit | None:
        if what == "judge":
            return self._judge.object_to(what, name)
        self.told.add((what, name))
        return self._unfit.get((what, name))


def check_plan(
    config: Config, needs: Needs, errors: Sequence[Problem] = (), invalid: Sequence[str] = (),
    broken: Mapping[str, Unfit] | None = None,
) -> list[Problem]:  # fmt: skip
    """Everything that keeps a run from starting, at the places where `check` finds it.

    `errors` are those of the suites themselves, and `invalid` the files that have some. `broken`
    are targets that could not be opened. A module or a program that seems to be missing keeps no
    run from trying: it is told with all else.
    """
    catalogue = _RunCatalogue(config, needs, broken)
    found: list[Problem] = []
    for path, needed in needs.suites.items():
        found += _check_needs(path, needed, needs.held, catalogue)
    unknown = [path for path in invalid if path not in needs.suites]
    for path in unknown:  # which cases are run is unknown: all that it mentions counts
        found += _read_with(path, catalogue)
    seen = set(found)
    found += [problem for problem in errors if problem not in seen]
    if config.judge is not None:
        catalogue.targets.add(config.judge.target)
    if unknown and config.target is not None and not needs.targets:
        catalogue.targets.add(config.target)  # a case with a mistake may name no target
    wrong = find_wrong_targets(config, frozenset(catalogue.targets), catalogue.unfit)
    problems = config.problems(wrong)
    found = [*problems, *_check_named(config, needs, catalogue.unfit), *found]
    if broken is None and all(each.code in _SEEMING for each in found):
        return []
    return in_order([replace(problem, stops=True) for problem in found])


def _check_needs(
    path: str, needed: SuiteNeeds, held: bool, catalogue: Catalogue
) -> Iterator[Problem]:
    """The problems of what a run needs of a suite. Its file is read again only if there are any."""
    unfit: dict[tuple[What | None, str], Unfit] = {
        (what, name): objection
        for what, names in needed.mentions.items()
        for name in sorted(names)
        if (objection := catalogue.object_to(what, name)) is not None
    }
    judge = catalogue.object_to("judge", "criteria") if needed.judged else None
    if not held and (unfit or judge is not None):
        for problem in _read_with(path, _Objections(unfit, judge=catalogue)):
            if problem.code != "no-judge" or problem.case in needed.judged:
                yield problem
    elif held:
        for each in unfit.values():
            yield Problem(each.code, each.message, path, hint=each.hint)
        if judge is not None:
            for case in sorted(needed.judged):
                yield Problem(judge.code, judge.message, path, hint=judge.hint, case=case)


def _read_with(path: str, catalogue: Catalogue) -> list[Problem]:
    """The problems of a file that keep it from being run."""
    problems = load_file(path, catalogue, keep=False).problems
    return [each for each in problems if each.severity == "error" or each.code in _STOPPING]


def place_grader_faults(
    faults: Sequence[GraderFault], config: Config, *, held: bool, are_forbidden: bool = False
) -> list[Problem]:
    """A problem for each place that names a grader which can't be used. `check` may know better
    why, unless --no-exec forbids it."""
    catalogue = Catalogue() if are_forbidden else Catalogue(config)
    found: list[Problem] = []
    for suite in dict.fromkeys(each.suite for each in faults):
        its = [each for each in faults if each.suite == suite]
        unfit = {
            (each.what, each.name): (each.what and catalogue.object_to(each.what, each.name))
            or Unfit("bad-grader", each.message)
            for each in its
        }
        objections = _Objections(unfit, judge=Catalogue())
        if not held:
            found += _read_with(suite, objections)
        for each in its:
            if (each.what, each.name) not in objections.told:  # the case is the nearest place
                span = find_case_span(suite, each.case, Catalogue())
                found.append(Problem("bad-grader", each.message, suite, span, case=each.case))
    return in_order([replace(problem, stops=True) for problem in found])


def _check_named(config: Config, needs: Needs, unfit: Mapping[str, Unfit]) -> Iterator[Problem]:
    for name in needs.targets:
        found = object_to_target(name, config, of_suite=False, broken=unfit)
        if found is not None:
            # A password that somebody typed is not shown.
            hint = found.hint and mask_credentials(found.hint)
            message = mask_credentials(found.message)
            yield Problem(found.code, message, _place_of(name, needs), hint=hint)


def _place_of(target: str, needs: Needs) -> str:
    """What stands for the path of a file where no file names a target."""
    kind, value = split_name(target)
    if is_known("targets", kind):
        # Its kind is no user, and what follows no password: `openai:gpt@localhost:8000`.
        shown = target.removesuffix(value) + mask_credentials(value)
    else:
        shown = mask_credentials(f"//{target}")[2:]  # an address without its scheme, perhaps
    return f"{needs.named_by} {shown}"


def place_broken(name: str, error: ConfigError, config: Config, needs: Needs) -> ConfigError:
    """Why a target can't be opened, at the place where it is named, with all that `check` finds to
    be wrong with targets of the run."""
    broken = {name: Unfit("bad-target", str(error))}
    problems = check_plan(config, needs, broken=broken)
    # A target that only graders of a program or of the command line ask has no place.
    return ConfigError.of(problems) if problems else error


def refuse_run(problems: Sequence[Problem], config: Config, needs: Needs) -> None:
    """Raise SuiteError with problems, if there are any; ConfigError if none is that of a suite."""
    if not problems:
        return
    elsewhere = {_place_of(name, needs) for name in needs.targets}
    if config.source is not None:
        sources = config.source.document, *config.source.others
        elsewhere |= {each.path for each in sources if each is not None}
    if all(problem.path in elsewhere for problem in problems):
        raise ConfigError.of(problems)
    raise SuiteError(problems)


def find_forbidden_targets(
    tested: Iterable[str], needs: Mapping[str, SuiteNeeds], config: Config
) -> dict[str, Unfit]:
    """Why --no-exec forbids targets: those that are tested, and those that suites need."""
    names = set(tested).union(*[each.mentions.get("asked", ()) for each in needs.values()])
    if config.judge is not None and any(each.judged for each in needs.values()):
        names.add(config.judge.target)
    found: dict[str, Unfit] = {}
    for name in sorted(names):
        with suppress(ConfigError):  # an unknown kind is told elsewhere
            if kind_of(name, config).runs_code:
                found[name] = Unfit("bad-target", describe_forbidden_target(name))
    return found
