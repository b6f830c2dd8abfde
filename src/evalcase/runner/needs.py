"""What the cases of a run need, and everything that keeps it from starting, at the places where
`check` finds it. Nothing of the project is imported or started for it."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import Struct, field

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import Config, name_settings
from evalcase.config.options import RunOptions, Shard, number_of
from evalcase.config.registry import is_known
from evalcase.config.targets import (
    describe_forbidden_target,
    find_wrong_targets,
    kind_of,
    object_to_target,
    split_name,
)
from evalcase.errors import ConfigError, SuiteError
from evalcase.format.graders import find_named_code
from evalcase.format.load import find_case_span, load_file
from evalcase.graders.base import DeclaredGrader, What
from evalcase.runner.graders import GraderFault, Graders
from evalcase.runner.select import Selector, UnmatchedFilters, deal_cases, times_of
from evalcase.runner.suites import SomeSuites
from evalcase.types.case import Case
from evalcase.types.problem import Finding, Problem, in_order
from evalcase.types.value import Value, replace
from evalcase.util.files import digest_file
from evalcase.util.project import find_attachments
from evalcase.util.secrets import mask_credentials


class Survey(Struct):
    """What the cases of a run need."""

    selector: Selector
    """Which cases are run, the shard dealt."""
    trials: dict[str, int] = field(default_factory=dict)
    """How many trials there are of each target."""
    cases: dict[str, int] = field(default_factory=dict)
    """How many cases there are of each target."""
    needs: dict[str, SuiteNeeds] = field(default_factory=dict)
    """What each suite mentions that has to be there, by its path."""
    judged: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of a judge and the target that it judges."""
    users: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of a target that plays a user and the target that it talks to."""
    workspaces: dict[str, str] = field(default_factory=dict)
    """Targets that are given a workspace, each with the first case that has one."""
    has_workspaces: bool = False
    """Whether some case has one, be it a skipped case."""
    errors: tuple[Problem, ...] = ()
    """What is wrong with the suites themselves."""
    invalid: tuple[str, ...] = ()
    """The suites whose cases are unknown."""
    chosen: int = 0
    """How many cases are run."""
    total: int = 0
    """How many cases there are in the suites."""
    fault: ConfigError | None = None
    """What else keeps the run from starting."""


def survey_cases(
    suites: SomeSuites,
    options: RunOptions,
    config: Config,
    graders: Graders,
    selector: Selector,
    warn: Callable[[str], None],
    is_given: Callable[[str], bool],
) -> Survey:
    """Go through every case, and note what it needs. Nothing is made, or imported. A target that
    plays a user need not exist if it `is_given` by a program."""
    found, unmatched, catalogue = Survey(selector), UnmatchedFilters(selector), Catalogue()
    checked = unmatched.watch(suites.check())
    named = tuple(dict.fromkeys(options.targets))
    try:
        if options.selection.shard is not None:
            found.selector = _deal_cases(selector, checked, options.selection.shard)
            deque(checked, maxlen=0)  # a limit may have left some unread
            checked = iter(suites)
        for suite, case in found.selector.select(checked):
            found.chosen += 1
            targets = named or targets_of(case, config, suite)
            if found.selector.at:
                unmatched.remove_targets(suite, case, targets)
                targets = tuple(filter(partial(found.selector.asks, suite, case), targets))
            _note_targets(suite, case, targets, options, found)
            if "user" in case._data and not case.skip:
                _note_user(suite, case._data["user"]["target"], targets, found, is_given)
            for judge in _note_parts(suite, case, catalogue, found, graders, config):
                found.judged.update((judge, target) for target in targets)
    except ConfigError as error:
        found.fault = error
    except SuiteError as error:
        found.errors = error.problems
    try:
        deque(checked, maxlen=0)  # all problems of the suites are reported in any case
    except SuiteError as error:
        found.errors = error.problems
    found.total = unmatched.total
    if not found.errors:
        found.fault = _check_filters(unmatched, suites, found, warn)
    found.invalid = tuple(suites.invalid)
    return found


def _deal_cases(selector: Selector, cases: Iterable[tuple[str, Case]], shard: Shard) -> Selector:
    """The selector with its part of all cases. A number stands for each of them in memory."""
    numbers, total = array("Q"), 0
    digest = cache(digest_file)
    for suite, case in selector.select_for_all_shards(cases):
        number = selector.number(suite, case)
        numbers.append(number)
        # The hash of a suite's file doesn't cover tables, texts and attached files.
        total += number_of(str(number), repr(case._data)) if "vars" in case._data else number
        found = find_attachments(suite, case.written_messages) if case.has_parts else {}
        if isinstance(found, dict):
            total += sum(number_of(name, digest(path)) for name, path in found.items())
    if not numbers:
        return selector  # `_check_filters` tells it
    dealt = f"{len(numbers)} cases, {total % (1 << 64):016x}"
    return replace(selector, part=deal_cases(numbers, shard), dealt=dealt)


def _check_filters(
    unmatched: UnmatchedFilters, suites: SomeSuites, found: Survey, warn: Callable[[str], None]
) -> ConfigError | None:
    """What is asked for and not there, else the fault that was found before. An empty shard is
    fine: the others have the cases."""
    said = unmatched.describe(suites)
    if said is not None:
        return ConfigError(said)
    failed_of, missing = found.selector.selection.failed_of, len(unmatched.failed)
    if failed_of is not None and missing:
        suite, case = min(unmatched.failed)
        which = (
            f"{missing} of the {len(failed_of.cases)} cases that did not pass in {failed_of.run}"
        )
        warn(f"{which} are not in the suites that were named, such as {case} in {suite}")
    if found.fault is not None or found.trials or found.selector.part is not None:
        return found.fault
    return ConfigError("no case is left to run: none has all that was asked for")


def _note_targets(
    suite: str, case: Case, targets: tuple[str, ...], options: RunOptions, found: Survey
) -> None:
    needs = found.needs.setdefault(suite, SuiteNeeds())
    times = times_of(case, options.repeat)
    for name in targets:
        found.trials[name] = found.trials.get(name, 0) + times
        found.cases[name] = found.cases.get(name, 0) + 1
        if case.has_workspace:
            found.has_workspaces = True
            if not case.skip:
                found.workspaces.setdefault(name, case.id)
    if not options.targets:
        needs.add("target", targets)


def _note_user(
    suite: str, user: str, targets: tuple[str, ...], found: Survey, is_given: Callable[[str], bool]
) -> None:
    found.users.update((user, target) for target in targets)
    if not is_given(user):
        found.needs[suite].add("asked", [user])


def _note_parts(
    suite: str, case: Case, catalogue: Catalogue, found: Survey, graders: Graders, config: Config
) -> set[str]:
    """Note the graders of a case and of its turns, and return the targets that they ask."""
    asked: set[str | None] = set()
    for part in () if graders.only_given else case.graded_parts:
        if "graders" in part._data or part.needs_judge:
            asked |= _note_graders(part, catalogue, found.needs[suite])
            graders.want(suite, part)
    judges = {name for name in asked if name is not None}
    if None in asked and config.judge is not None:
        judges.add(config.judge.target)
    return judges


def _note_graders(case: Case, catalogue: Catalogue, needs: SuiteNeeds) -> set[str | None]:
    """Note what the graders of a case name, and return the targets that they ask; None is the
    configured judge. Graders of a case that is skipped are made, and ask no target."""
    is_judged = False
    asked: set[str | None] = set()
    for declared, spec in _graders_in(case._data.get("graders", ()), catalogue):
        for what, name, _ in find_named_code(declared, spec):
            needs.add(what, [name])
        if not case.skip:
            named = [name for _, name in declared.named_targets(spec)]
            asked.update(named)
            if declared.kind.judges:
                is_judged = True
                asked.update([] if named else [None])
    if case.needs_judge and not is_judged and not case.skip:
        asked.add(None)
    if None in asked:
        needs.judged.add(case.id)
    needs.add("asked", [name for name in asked if name is not None])
    return asked


def _graders_in(
    specs: Iterable[Mapping[str, Any]], catalogue: Catalogue
) -> Iterator[tuple[DeclaredGrader, Mapping[str, Any]]]:
    """The graders that are declared, and those inside of them, with their options."""
    for spec in specs:
        declared = catalogue.grader(spec["type"])
        if declared is not None:
            yield declared, spec
            for name in declared.naming("graders"):
                yield from _graders_in(spec.get(name, ()), catalogue)


def targets_of(case: Case, config: Config, suite: str = "") -> tuple[str, ...]:
    """The names of the targets of a case, where the command line has none: its own, else the
    default. Raise ConfigError if there is neither, with the place of the case in its suite."""
    if case.targets:
        return tuple(dict.fromkeys(case.targets))
    if config.target is not None:
        return (config.target,)
    what = f"case `{case.id}` names no target"
    known = ", ".join(config.targets)
    names = f" with one of {known}" if known else " kind:value, such as python:my_agent:answer"
    hint = f"add --target{names}, or set `target` in {name_settings(config.path)}"
    span = find_case_span(suite, case.id, Catalogue())
    if span is None:
        # A program made it, and has no command line.
        raise ConfigError(f"{what}: pass one, evaluate(suite, target), or {hint}")
    problem = Problem("undefined-target", what, suite, span, hint, case.id, stops=True)
    raise ConfigError.of([problem])


_NO_TARGETS: Mapping[str, Finding] = MappingProxyType({})
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
    forbidden: Mapping[str, Finding] = _NO_TARGETS
    """Targets that this run may not ask, with the reason."""


class _RunCatalogue(Catalogue):
    """Objects to what keeps a run from starting, and notes the targets that are mentioned."""

    def __init__(self, config: Config, needs: Needs, broken: Mapping[str, Finding] | None) -> None:
        super().__init__(config)
        self._is_replaced = bool(needs.targets)
        self._is_loaded = broken is not None  # graders are loaded before targets are opened
        self.unfit = {**needs.forbidden, **(broken or {})}
        self.targets = set(needs.targets)

    def object_to(self, what: What, name: str) -> Finding | None:
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

    def __init__(self, unfit: Mapping[tuple[What | None, str], Finding], judge: Catalogue) -> None:
        super().__init__()
        self._unfit = unfit
        self._judge = judge
        self.asked: set[tuple[What | None, str]] = set()

    def object_to(self, what: What, name: str) -> Finding | None:
        if what == "judge":
            return self._judge.object_to(what, name)
        self.asked.add((what, name))
        return self._unfit.get((what, name))


def check_plan(
    config: Config, needs: Needs, errors: Sequence[Problem] = (), invalid: Sequence[str] = (),
    broken: Mapping[str, Finding] | None = None,
) -> list[Problem]:  # fmt: skip
    """Everything that keeps a run from starting, at the places where `check` finds it.

    `errors` are those of the suites themselves, and `invalid` the files that have some. `broken`
    are targets that could not be opened. A module or a program that seems to be missing keeps no
    run from trying: it is reported beside other problems.
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
    unfit: dict[tuple[What | None, str], Finding] = {
        (what, name): objection
        for what, names in needed.mentions.items()
        for name in sorted(names)
        if (objection := catalogue.object_to(what, name)) is not None
    }
    judge = catalogue.object_to("judge", "criteria") if needed.judged else None
    if not held and (unfit or judge is not None):
        for problem in _read_with(path, _Objections(unfit, judge=catalogue)):
            is_of_others = problem.case is not None and problem.case not in needed.judged
            if problem.code != "no-judge" or not is_of_others:
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
            or Finding((), each.message, code="bad-grader")
            for each in its
        }
        objections = _Objections(unfit, judge=Catalogue())
        if not held:
            found += _read_with(suite, objections)
        for each in its:
            if (each.what, each.name) not in objections.asked:  # the case is the nearest place
                span = find_case_span(suite, each.case, Catalogue())
                found.append(Problem("bad-grader", each.message, suite, span, case=each.case))
    return in_order([replace(problem, stops=True) for problem in found])


def _check_named(config: Config, needs: Needs, unfit: Mapping[str, Finding]) -> Iterator[Problem]:
    for name in needs.targets:
        found = object_to_target(name, config, of_suite=False, broken=unfit)
        if found is not None:
            # A password that was typed is not shown.
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
    broken = {name: Finding((), str(error), code="bad-target")}
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
) -> dict[str, Finding]:
    """Why --no-exec forbids targets: those that are tested, and those that suites need."""
    names = set(tested).union(*[each.mentions.get("asked", ()) for each in needs.values()])
    if config.judge is not None and any(each.judged for each in needs.values()):
        names.add(config.judge.target)
    found: dict[str, Finding] = {}
    for name in sorted(names):
        with suppress(ConfigError):  # an unknown kind is told elsewhere
            if kind_of(name, config).runs_code:
                found[name] = Finding((), describe_forbidden_target(name), code="bad-target")
    return found
