"""Every case of a run looked at before the first target is asked: what it needs, and how often."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.case import GRADED_BY_MORE, Case, is_bare
from evalcase.model.problem import Problem
from evalcase.model.value import replace
from evalcase.plugins.graders import Graders
from evalcase.plugins.known import Installed
from evalcase.project.config import Config
from evalcase.project.options import RunOptions
from evalcase.run.plan import times_of
from evalcase.run.selection import Chooser, Shard, deal_cases, number_of
from evalcase.run.unmatched import Unmatched
from evalcase.suites.collection import SomeSuites
from evalcase.suites.refusal import SuiteNeeds
from evalcase.system.attachments import find_attachments
from evalcase.system.digests import digest_file
from evalcase.text.counted import write_count

if TYPE_CHECKING:
    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.model.known import Known


class Survey(NamedTuple):
    """What the cases of a run need."""

    trials: dict[str, int]
    """How many trials there are of each target."""
    cases: dict[str, int]
    """How many cases there are of each target."""
    needs: dict[str, SuiteNeeds]
    """What each suite mentions that has to be there, by its path."""
    choice: Chooser
    """Which cases are run, the shard dealt."""
    judged: set[tuple[str | None, str]]
    """Who is asked about the answers of whom, None for the judge of the configuration."""
    users: set[tuple[str, str]]
    """Who plays the user that talks to whom."""
    errors: tuple[Problem, ...] = ()
    """What is wrong with the suites themselves."""
    invalid: tuple[str, ...] = ()
    """Those of which no case is known."""
    chosen: int = 0
    """How many cases are run."""
    total: int = 0
    """How many there are in the suites; 0 where nothing is chosen among them."""
    fault: ConfigError | None = None
    """What else keeps the run from starting."""


def survey_cases(
    suites: SomeSuites,
    options: RunOptions,
    config: Config,
    graders: Graders,
    choice: Chooser,
    warn: Callable[[str], None],
    is_given: Callable[[str], bool],
) -> Survey:
    """Go through every case, and note what it needs. Nothing is made, or imported. What
    plays a user need not be there by its name if it `is_given` by a program."""
    unmatched, known, seen = Unmatched(choice), Installed(), _CaseCount()
    picked = _CaseCount()
    checked = unmatched.watch(seen.count(suites.check()) if choice.narrows else suites.check())
    found = Survey({}, {}, {}, choice, set(), set())
    errors: tuple[Problem, ...] = ()
    fault: ConfigError | None = None
    try:
        if options.selection.shard is not None:
            found = found._replace(choice=_deal_cases(choice, checked, options.selection.shard))
            deque(checked, maxlen=0)  # a limit may have left some unread
            checked = iter(suites)
        named = tuple(dict.fromkeys(options.targets))
        bare, chosen = _BareCases(), picked.count(found.choice.choose(checked))
        for suite, case in chosen if choice.at else bare.leave_out(chosen):
            targets = named or targets_of(case, config, suite)
            if choice.at:
                unmatched.strike_out_targets(suite, case, targets)
                targets = found.choice.targets_asked(suite, case, targets)
            needs = _note_case(suite, case, targets, options, found)
            if "user" in case._data and not case.skip:
                user = case._data["user"]["target"]
                found.users.update((user, target) for target in targets)
                needs.asked.update(() if is_given(user) else (user,))
            if not is_bare(case._data) and not GRADED_BY_MORE.isdisjoint(case._data):
                _note_grading(suite, case, targets, graders, known, found)
        bare.note_left_out(options, config, found)
    except ConfigError as error:
        fault = error
    except SuiteError as error:
        errors = error.problems
    try:
        # Whatever else is wrong: what is wrong with the suites is told, too.
        deque(checked, maxlen=0)
    except SuiteError as error:
        errors = error.problems
    if not errors:
        fault = _look_at_filters(unmatched, suites, found, fault, warn)
    return found._replace(
        errors=errors, invalid=tuple(suites.invalid), fault=fault,
        chosen=picked.cases, total=seen.cases,
    )  # fmt: skip


class _BareCases:
    """What the first bare case of a suite needs all of them do, and most cases are bare: the others
    are counted, and not looked at."""

    def __init__(self) -> None:
        self._first: dict[str, Case] = {}
        self._more: dict[str, int] = {}

    def leave_out(self, cases: Iterable[tuple[str, Case]]) -> Iterator[tuple[str, Case]]:
        """All cases but those others."""
        more = self._more
        for pair in cases:
            suite, case = pair
            if is_bare(case._data):
                if suite in more:
                    more[suite] += 1
                    continue
                self._first[suite], more[suite] = case, 0
            yield pair

    def note_left_out(self, options: RunOptions, config: Config, found: Survey) -> None:
        """Note those others: they are like the first of their suite."""
        named = tuple(dict.fromkeys(options.targets))
        for suite, case in self._first.items():
            targets = named or targets_of(case, config, suite)
            _note_case(suite, case, targets, options, found, self._more[suite])


class _CaseCount:
    """Counts what goes by."""

    cases = 0

    def count(self, cases: Iterable[tuple[str, Case]]) -> Iterator[tuple[str, Case]]:
        for each in cases:
            self.cases += 1
            yield each


def _deal_cases(choice: Chooser, cases: Iterable[tuple[str, Case]], shard: Shard) -> Chooser:
    """The choice with its part of all cases. What is held of each is a number."""
    numbers, total = array("Q"), 0
    digest = cache(digest_file)
    for suite, case in choice.choose_for_all(cases):
        number = choice.number(suite, case)
        numbers.append(number)
        # The file of a suite has a hash; tables and texts that make its cases have none, and
        # neither have the files that it attaches.
        total += number_of(str(number), repr(case._data)) if "vars" in case._data else number
        found = find_attachments(suite, case.written_messages) if case.has_parts else {}
        if isinstance(found, dict):
            total += sum(number_of(name, digest(path)) for name, path in found.items())
    # Where there is nothing to deal, that is for the filters to tell.
    if not numbers:
        return choice
    dealt = f"{len(numbers)} cases, {total % (1 << 64):016x}"
    return replace(choice, part=deal_cases(numbers, shard), dealt=dealt)


def _look_at_filters(
    unmatched: Unmatched,
    suites: SomeSuites,
    found: Survey,
    fault: ConfigError | None,
    warn: Callable[[str], None],
) -> ConfigError | None:
    """What is asked for and not there, else the fault that was found before. An empty shard is
    fine: the others have the cases."""
    said = unmatched.describe(suites)
    if said is not None:
        return ConfigError(said)
    failed_of, missing = found.choice.selection.failed_of, len(unmatched.failed)
    if failed_of is not None and missing:
        suite, case = min(unmatched.failed)
        which = (
            f"{missing} of the {len(failed_of.cases)} cases that did not pass in {failed_of.run}"
        )
        warn(f"{which} are not in the suites that were named, such as {case} in {suite}")
    if fault is not None or found.trials or found.choice.part is not None:
        return fault
    return ConfigError("no case is left to run: none has all that was asked for")


def _note_case(
    suite: str, case: Case, targets: tuple[str, ...], options: RunOptions, found: Survey,
    count: int = 1,
) -> SuiteNeeds:  # fmt: skip
    """Note a case, or so many that are alike."""
    needs = found.needs.get(suite)
    if needs is None:
        needs = found.needs[suite] = SuiteNeeds(*(set() for _ in SuiteNeeds._fields))
    times, trials, cases = times_of(case, options.repeat), found.trials, found.cases
    for name in targets:
        trials[name] = trials.get(name, 0) + times * count
        cases[name] = cases.get(name, 0) + count
        if not options.targets:
            needs.targets.add(name)
    return needs


def _note_grading(
    suite: str, case: Case, targets: tuple[str, ...], graders: Graders, known: Known, found: Survey
) -> None:
    """What it takes to grade a case and its turns."""
    for part in case.graded_parts:
        if (part.needs_judge or "graders" in part._data) and not graders.only_given:
            judges = _note_graders(part, known, found.needs[suite])
            found.judged.update((judge, target) for judge in judges for target in targets)
        graders.want(suite, part)


def describe_remarks(suites: SomeSuites) -> str:
    """A sentence on what was found in suites that are valid; empty if that is nothing."""
    counts = {"warning": suites.warnings, "note": suites.notes}
    told = [write_count(number, noun) for noun, number in counts.items() if number]
    return f"the suites have {' and '.join(told)}, which `evalcase check` shows" if told else ""


def targets_of(case: Case, config: Config, suite: str = "") -> tuple[str, ...]:
    """The names of the targets of a case, where the command line has none: its own, else the
    default. Raise ConfigError if there is neither, with the place of the case in its suite."""
    names = case.targets
    if names:
        return tuple(dict.fromkeys(names))
    if config.target is None:
        raise _without_target(case, suite, config)
    return (config.target,)


def _without_target(case: Case, suite: str, config: Config) -> ConfigError:
    from evalcase.project.config_file import say_settings
    from evalcase.suites.case_places import find_case_span

    what = f"case `{case.id}` names no target"
    known = ", ".join(config.targets)
    names = f"one of {known}" if known else "a name, or kind:value such as python:my_agent:answer"
    hint = f"say --target with {names}; or set `target` in {say_settings(config.path)}"
    span = find_case_span(suite, case.id)
    if span is None:
        # Made in a program, which has no command line.
        return ConfigError(f"{what}: pass one, evaluate(suite, target), or {hint}")
    problem = Problem("undefined-target", what, suite, span, hint, case.id, stops=True)
    return ConfigError.of([problem])


def _note_graders(case: Case, known: Known, needs: SuiteNeeds) -> set[str | None]:
    """Note the functions that grade a case, and whom its graders ask, who are returned: targets by
    their names, or the judge of the configuration, None, where one that judges names nobody, or
    nobody else judges its criteria. Those of a case that is skipped are made, and ask nobody."""
    from evalcase.resolve.grader_mentions import find_named_code

    judges = 0
    asked: set[str | None] = set()
    for declared, spec in _graders_in(case._data.get("graders", ()), known):
        for what, name, _ in find_named_code(declared, spec):
            needs.by_sort[what].add(name)
        if case.skip:
            continue
        named = declared.named_targets(spec)
        asked.update(name for _, name in named)
        judges += declared.kind.judges
        if declared.kind.judges and not named:
            asked.add(None)
    if case.needs_judge and not judges and not case.skip:
        asked.add(None)
    if None in asked:
        needs.judged.add(case.id)
    needs.asked.update(name for name in asked if name is not None)
    return asked


def _graders_in(
    specs: Iterable[Mapping[str, Any]], known: Known
) -> Iterator[tuple[DeclaredGrader, Mapping[str, Any]]]:
    """The graders that are declared, and those inside of them, with what each is told."""
    for spec in specs:
        declared = known.grader(spec["type"])
        if declared is not None:
            yield declared, spec
            for name in declared.lists:
                yield from _graders_in(spec.get(name, ()), known)
