"""What the cases of a run need, and everything that keeps it from starting, at the places where
`check` finds it. Nothing of the project is imported or started for it."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

from msgspec import Struct

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
from evalcase.types.value import replace
from evalcase.util.files import digest_file
from evalcase.util.project import find_attachments
from evalcase.util.secrets import mask_credentials

_SEEMING = frozenset({"missing-module", "missing-program"})
"""What is not found here, and may be there where it is needed."""
_STOPPING = _SEEMING | {"undefined-target", "no-judge"}
"""Warnings of `check` that keep a run from starting."""


class Survey(Struct):
    """What the cases of a run need."""

    selector: Selector
    """Which cases are run, the shard dealt."""
    named: Sequence[str] = ()
    """Targets that take the place of those that suites name."""
    named_by: str = "--target"
    """The option or parameter that names them."""
    held: bool = False
    """Whether the suites come from a program, and have no text to point into."""
    trials: dict[str, int] = {}
    """How many trials there are of each target."""
    cases: dict[str, int] = {}
    """How many cases there are of each target."""
    mentions: dict[str, dict[What, set[str]]] = {}
    """What each suite mentions that has to be there, by its path: targets, functions, programs,
    scripts. For `judge`, the ids of cases that the configured judge grades."""
    judged: set[tuple[str, str]] = set()
    """Pairs of a judge and the target that it judges."""
    users: set[tuple[str, str]] = set()
    """Pairs of a target that plays a user and the target that it talks to."""
    workspaces: dict[str, str] = {}
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
    forbidden: dict[str, Finding] = {}
    """Targets that --no-exec forbids, with the reason."""

    def mention(self, suite: str, what: What, names: Iterable[str]) -> None:
        self.mentions[suite].setdefault(what, set()).update(names)

    def place_of(self, target: str) -> str:
        """What stands for the path of a file where no file names a target. A password that was
        typed is not shown."""
        kind, value = split_name(target)
        if is_known("targets", kind):
            # Its kind is no user, and what follows no password: `openai:gpt@localhost:8000`.
            shown = target.removesuffix(value) + mask_credentials(value)
        else:
            shown = mask_credentials(f"//{target}")[2:]  # an address without its scheme, perhaps
        return f"{self.named_by} {shown}"


def survey_cases(
    found: Survey,
    suites: SomeSuites,
    options: RunOptions,
    config: Config,
    graders: Graders,
    warn: Callable[[str], None],
    is_given: Callable[[str], bool],
) -> None:
    """Go through every case, and note what it needs. Nothing is made, or imported. A target that
    plays a user need not exist if it `is_given` by a program."""
    unmatched, catalogue = UnmatchedFilters(found.selector), Catalogue()
    checked = unmatched.watch(suites.check())
    named = tuple(dict.fromkeys(options.targets))
    try:
        if options.selection.shard is not None:
            found.selector = _deal_cases(found.selector, checked, options.selection.shard)
            deque(checked, maxlen=0)  # a limit may have left some unread
            checked = iter(suites)
        for suite, case in found.selector.select(checked):
            found.chosen += 1
            targets = named or targets_of(case, config, suite)
            if found.selector.at:
                unmatched.remove_targets(suite, case, targets)
                targets = tuple(filter(partial(found.selector.asks, suite, case), targets))
            _note_targets(suite, case, targets, options, found, is_given)
            if not graders.only_given:
                for judge in _note_graders(suite, case, catalogue, found, graders, config):
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


def _deal_cases(selector: Selector, cases: Iterable[tuple[str, Case]], shard: Shard) -> Selector:
    """The selector with its part of all cases. A number stands for each of them in memory."""
    numbers, total = array("Q"), 0
    digest = cache(digest_file)
    for suite, case in selector.select_for_all_shards(cases):
        number = selector.number(suite, case)
        numbers.append(number)
        # The hash of a suite's file doesn't cover tables, texts and attached files.
        total += number_of(str(number), repr(case._data)) if "vars" in case._data else number
        files = find_attachments(suite, case.written_messages) if case.has_parts else {}
        if isinstance(files, dict):
            total += sum(number_of(name, digest(path)) for name, path in files.items())
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
    suite: str, case: Case, targets: tuple[str, ...], options: RunOptions, found: Survey,
    is_given: Callable[[str], bool],
) -> None:  # fmt: skip
    if suite not in found.mentions:
        found.mentions[suite] = {}
    times, trials, cases = times_of(case, options.repeat), found.trials, found.cases
    for name in targets:
        trials[name] = trials.get(name, 0) + times
        cases[name] = cases.get(name, 0) + 1
        if "workspace" in case._data:
            found.has_workspaces = True
            if not case.skip:
                found.workspaces.setdefault(name, case.id)
    if not options.targets:
        found.mention(suite, "target", targets)
    if "user" in case._data and not case.skip:
        user = case._data["user"]["target"]
        found.users.update((user, target) for target in targets)
        if not is_given(user):
            found.mention(suite, "asked", [user])


def _note_graders(
    suite: str, case: Case, catalogue: Catalogue, found: Survey, graders: Graders, config: Config
) -> set[str]:
    """Note what the graders of a case and of its turns name, and return the targets that they ask.
    Graders of a case that is skipped are made, and ask no target."""
    asked: set[str] = set()
    needs_judge = False
    for part in case.graded_parts:
        specs = part._data.get("graders", ())
        if not specs and not part.needs_judge:
            continue
        graders.want(suite, part)
        is_judged = False
        for declared, spec in _graders_in(specs, catalogue):
            for what, name, _ in find_named_code(declared, spec):
                found.mention(suite, what, [name])
            if not case.skip:
                named = [name for _, name in declared.named_targets(spec)]
                asked.update(named)
                is_judged = is_judged or declared.kind.judges
                needs_judge = needs_judge or (declared.kind.judges and not named)
        needs_judge = needs_judge or (part.needs_judge and not is_judged and not case.skip)
    if asked:
        found.mention(suite, "asked", asked)
    if needs_judge:
        found.mention(suite, "judge", [case.id])
        if config.judge is not None:
            asked.add(config.judge.target)
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


def find_forbidden_targets(
    tested: Iterable[str], found: Survey, config: Config
) -> dict[str, Finding]:
    """Why --no-exec forbids targets: those that are tested, and those that suites need."""
    names = set(tested).union(*[each.get("asked", ()) for each in found.mentions.values()])
    if config.judge is not None and any("judge" in each for each in found.mentions.values()):
        names.add(config.judge.target)
    forbidden: dict[str, Finding] = {}
    for name in sorted(names):
        with suppress(ConfigError):  # an unknown kind is told elsewhere
            if kind_of(name, config).runs_code:
                message = describe_forbidden_target(name)
                forbidden[name] = Finding((), message, code="bad-target")
    return forbidden


# What keeps a run from starting


class _RunCatalogue(Catalogue):
    """Objects to what keeps a run from starting, and notes the targets that are mentioned."""

    def __init__(self, config: Config, found: Survey, broken: Mapping[str, Finding] | None) -> None:
        super().__init__(config)
        self._is_replaced = bool(found.named)
        self._is_loaded = broken is not None  # graders are loaded before targets are opened
        self.unfit = {**found.forbidden, **(broken or {})}
        self.targets = set(found.named)

    def object_to(self, what: What, name: str) -> Finding | None:
        if what == "target" and self._is_replaced:
            return None
        if what in ("target", "asked"):
            self.targets.add(name)
            return object_to_target(name, self.config, of_suite=True, broken=self.unfit)
        if what in ("code", "program", "script") and self._is_loaded:
            return None
        return super().object_to(what, name)


def check_plan(
    config: Config, found: Survey, broken: Mapping[str, Finding] | None = None
) -> list[Problem]:
    """Everything that keeps a run from starting, at the places where `check` finds it.

    `broken` are targets that could not be opened. A module or a program that seems to be missing
    keeps no run from trying: it is reported beside other problems.
    """
    catalogue = _RunCatalogue(config, found, broken)
    problems: list[Problem] = []
    for path, mentioned in found.mentions.items():
        unfit = list(_find_unfit(path, mentioned, catalogue))
        # The file is read again, for the places, only if there is something to say.
        problems += _read_with(path, catalogue) if unfit and not found.held else unfit
    unknown = [path for path in found.invalid if path not in found.mentions]
    for path in unknown:  # which cases are run is unknown: all that it mentions counts
        problems += _read_with(path, catalogue)
    seen = set(problems)
    problems += [problem for problem in found.errors if problem not in seen]
    if config.judge is not None:
        catalogue.targets.add(config.judge.target)
    if unknown and config.target is not None and not found.named:
        catalogue.targets.add(config.target)  # a case with a mistake may name no target
    wrong = find_wrong_targets(config, frozenset(catalogue.targets), catalogue.unfit)
    first = config.problems(wrong)
    for name in found.named:
        unusable = object_to_target(name, config, of_suite=False, broken=catalogue.unfit)
        if unusable is not None:
            hint = unusable.hint and mask_credentials(unusable.hint)
            message = mask_credentials(unusable.message)
            first.append(Problem(unusable.code, message, found.place_of(name), hint=hint))
    problems = [*first, *problems]
    if broken is None and all(each.code in _SEEMING for each in problems):
        return []
    return in_order([replace(problem, stops=True) for problem in problems])


def _find_unfit(
    path: str, mentioned: Mapping[What, set[str]], catalogue: Catalogue
) -> Iterator[Problem]:
    """What a suite mentions and can't be used, without its place."""
    for what, names in mentioned.items():
        for name in sorted(names):
            is_case = what == "judge"
            found = catalogue.object_to(what, "criteria" if is_case else name)
            if found is not None:
                case = name if is_case else None
                yield Problem(found.code, found.message, path, hint=found.hint, case=case)


def _read_with(path: str, catalogue: Catalogue) -> list[Problem]:
    """The problems of a file that keep it from being run."""
    problems = load_file(path, catalogue, keep=False).problems
    return [each for each in problems if each.severity == "error" or each.code in _STOPPING]


class _Faults(Catalogue):
    """Objects to what was found to be unusable, so that reading a file again gives its places."""

    def __init__(self, unfit: Mapping[tuple[What | None, str], Finding]) -> None:
        super().__init__()
        self._unfit = unfit
        self.asked: set[tuple[What | None, str]] = set()

    def object_to(self, what: What, name: str) -> Finding | None:
        self.asked.add((what, name))
        return self._unfit.get((what, name))


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
        objections = _Faults(unfit)
        if not held:
            found += _read_with(suite, objections)
        for each in its:
            if (each.what, each.name) not in objections.asked:  # the case is the nearest place
                span = find_case_span(suite, each.case, Catalogue())
                found.append(Problem("bad-grader", each.message, suite, span, case=each.case))
    return in_order([replace(problem, stops=True) for problem in found])


def place_broken(name: str, error: ConfigError, config: Config, found: Survey) -> ConfigError:
    """Why a target can't be opened, at the place where it is named, with all that `check` finds to
    be wrong with targets of the run."""
    problems = check_plan(config, found, {name: Finding((), str(error), code="bad-target")})
    # A target that only graders of a program or of the command line ask has no place.
    return ConfigError.of(problems) if problems else error


def refuse_run(problems: Sequence[Problem], config: Config, found: Survey) -> None:
    """Raise SuiteError with problems, if there are any; ConfigError if none is that of a suite."""
    if not problems:
        return
    sources = config.source.document, *config.source.others
    elsewhere = {each.path for each in sources if each is not None}
    elsewhere |= set(map(found.place_of, found.named))
    if all(problem.path in elsewhere for problem in problems):
        raise ConfigError.of(problems)
    raise SuiteError(problems)
