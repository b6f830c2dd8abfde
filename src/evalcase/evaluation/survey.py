"""Every case of a run looked at before the first question: what it needs, and how often it is
asked."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct, field

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import Config, say_settings
from evalcase.config.options import RunOptions, Shard, number_of
from evalcase.errors import ConfigError, SuiteError
from evalcase.evaluation.needs import SuiteNeeds
from evalcase.format.collection import SomeSuites
from evalcase.format.graders import find_named_code
from evalcase.format.load import find_case_span
from evalcase.runner.graders import Graders
from evalcase.runner.plan import times_of
from evalcase.runner.select import Selector, UnmatchedFilters, deal_cases
from evalcase.types.case import Case
from evalcase.types.grader import DeclaredGrader
from evalcase.types.problem import Problem
from evalcase.types.value import replace
from evalcase.util.files import digest_file
from evalcase.util.project import find_attachments
from evalcase.util.text import write_count


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
    judged: set[tuple[str | None, str]] = field(default_factory=set)
    """Pairs of a judge and the target that it judges; None is the configured judge."""
    users: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of a target that plays a user and the target that it talks to."""
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
    checked = unmatched.watch(_count_cases(suites.check(), found))
    named = tuple(dict.fromkeys(options.targets))
    try:
        if options.selection.shard is not None:
            found.selector = _deal_cases(selector, checked, options.selection.shard)
            deque(checked, maxlen=0)  # a limit may have left some unread
            checked = iter(suites)
        for suite, case in found.selector.select(checked):
            found.chosen += 1
            targets = named or targets_of(case, config, suite)
            unmatched.remove_targets(suite, case, targets)
            targets = found.selector.targets_asked(suite, case, targets)
            _note_targets(suite, case, targets, options, found)
            if "user" in case._data and not case.skip:
                user = case._data["user"]["target"]
                found.users.update((user, target) for target in targets)
                found.needs[suite].add("asked", () if is_given(user) else (user,))
            for part in case.graded_parts:
                if not graders.only_given:
                    judges = _note_graders(part, catalogue, found.needs[suite])
                    found.judged.update((judge, target) for judge in judges for target in targets)
                graders.want(suite, part)
    except ConfigError as error:
        found.fault = error
    except SuiteError as error:
        found.errors = error.problems
    try:
        deque(checked, maxlen=0)  # what is wrong with the suites is told in any case
    except SuiteError as error:
        found.errors = error.problems
    if not found.errors:
        found.fault = _check_filters(unmatched, suites, found, warn)
    found.invalid = tuple(suites.invalid)
    return found


def _count_cases(cases: Iterable[tuple[str, Case]], found: Survey) -> Iterator[tuple[str, Case]]:
    for each in cases:
        found.total += 1
        yield each


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
    if not options.targets:
        needs.add("target", targets)


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


def describe_remarks(suites: SomeSuites) -> str:
    """A sentence on what was found in suites that are valid; empty if that is nothing."""
    counts = {"warning": suites.warnings, "note": suites.notes}
    told = [write_count(number, noun) for noun, number in counts.items() if number]
    return f"the suites have {' and '.join(told)}, which `evalcase check` shows" if told else ""


def targets_of(case: Case, config: Config, suite: str = "") -> tuple[str, ...]:
    """The names of the targets of a case, where the command line has none: its own, else the
    default. Raise ConfigError if there is neither, with the place of the case in its suite."""
    if case.targets:
        return tuple(dict.fromkeys(case.targets))
    if config.target is not None:
        return (config.target,)
    what = f"case `{case.id}` names no target"
    known = ", ".join(config.targets)
    names = f"one of {known}" if known else "a name, or kind:value such as python:my_agent:answer"
    hint = f"say --target with {names}; or set `target` in {say_settings(config.path)}"
    span = find_case_span(suite, case.id, Catalogue())
    if span is None:
        # A program made it, and has no command line.
        raise ConfigError(f"{what}: pass one, evaluate(suite, target), or {hint}")
    problem = Problem("undefined-target", what, suite, span, hint, case.id, stops=True)
    raise ConfigError.of([problem])
