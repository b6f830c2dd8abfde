"""A run prepared: suites checked, targets and graders made; no target has been asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import field

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import Config, read_env_file
from evalcase.config.options import ORACLE, UNTOUCHED, RunOptions
from evalcase.config.targets import describe_same_model, key_names, make_target
from evalcase.errors import ConfigError, RecordError, TargetError
from evalcase.graders.base import NamedGrader
from evalcase.runner.dispatch import Executor
from evalcase.runner.events import Emit, RunNote, RunWarning
from evalcase.runner.graders import Graders
from evalcase.runner.needs import (
    Survey,
    check_plan,
    find_forbidden_targets,
    place_broken,
    place_grader_faults,
    refuse_run,
    survey_cases,
)
from evalcase.runner.select import Selector, make_selector, times_of
from evalcase.runner.suites import SomeSuites, Suites
from evalcase.store.folder import Run
from evalcase.types.answer import Answer
from evalcase.types.options import may_hold_secret
from evalcase.types.problem import in_order
from evalcase.types.result import Trial, Verdict
from evalcase.types.target import Question, Surroundings, Target, Warn
from evalcase.types.value import Value, replace
from evalcase.util.code import make_importable
from evalcase.util.environment import Environment, collector_paused, wall_time
from evalcase.util.project import paths_from
from evalcase.util.secrets import Scrubber
from evalcase.util.text import write_count

if TYPE_CHECKING:
    from evalcase.runner.oracle import Oracle


class Given(Value, frozen=True):
    """What a program gives as objects instead of names."""

    suites: SomeSuites | None = None
    targets: Mapping[str, Target] = MappingProxyType({})
    graders: Sequence[NamedGrader] = ()
    only_graders: bool = False
    """Whether they replace those of cases."""
    users: Mapping[str, Target] = MappingProxyType({})
    """Targets that play users, by the names in cases."""
    only_answers: bool = False
    """Whether stored answers are graded: then no target of a case is made, or asked."""

    def has(self, name: str, known: Mapping[str, Target]) -> bool:
        """Whether a target need not be made by its name."""
        return self.only_answers or name in known

    def find(self, name: str, known: Mapping[str, Target]) -> Target | None:
        return NotAsked() if self.only_answers else known.get(name)


class NotAsked(Target):
    """Stands for a target whose answers are stored."""

    async def answer(self, question: Question) -> Answer:
        raise AssertionError(f"case {question.case} was asked, and is only to be graded")


class RunRequest(Value, frozen=True):
    """A run as a command, a program or a test asks for it. No suite has been read."""

    options: RunOptions
    config: Config
    environment: Environment
    folder: str
    """The folder of records."""
    emit: Emit
    scrubber: Scrubber
    given: Given | None = None
    run: Run | None = None
    """The run to resume or to grade; None for a new one."""
    again: tuple[Verdict, ...] = ()
    """The verdicts of trials that are run again."""


class Plan(Value, frozen=True):
    """Everything that a run needs. Whatever can be wrong before it starts has been checked."""

    options: RunOptions
    config: Config
    environment: Environment
    suites: SomeSuites
    selector: Selector
    """Which of their cases are run."""
    trials: Mapping[str, int]
    """How many trials each target has."""
    cases: int
    """How many cases there are, each once for each of its targets."""
    selected: tuple[int, int] | None
    """How many cases were selected, and of how many; None for all."""
    targets: Mapping[str, Target]
    """The targets of cases."""
    graders: Graders
    scrubber: Scrubber
    warn: Warn
    note: Warn
    """For what is good to know, and no reason to worry."""
    make: Callable[[str], Target]
    """Makes a configured target that only graders ask."""
    given_targets: frozenset[str] = frozenset()
    """The names of targets that a program gives as objects."""
    users: Mapping[str, Target] = field(default_factory=dict)
    """Targets that only play users."""
    survey: Survey | None = None
    """What the cases need, to tell the place of a target that can't be opened."""
    judges: Mapping[str, Target] = field(default_factory=dict)
    """Targets that only graders ask, as far as their options say so."""
    oracle: Oracle | None = None
    """What is done otherwise where the cases themselves are checked."""
    has_workspaces: bool = False

    @property
    def planned(self) -> int:
        return sum(self.trials.values())

    def askable(self, name: str) -> Target:
        return self.targets[name] if name in self.targets else self.users[name]

    def explain_unopened(self, name: str, error: ConfigError) -> ConfigError:
        """Why a target can't be opened, with the place where a file names it."""
        if name in self.judges:
            error = ConfigError(f"`{name}` judges, and can't be opened: {error}")
        if self.survey is None or name in self.given_targets:
            return error
        return place_broken(name, error, self.config, self.survey)

    def moved_to(self, executor: Executor) -> Plan:
        """The same plan with targets that answer in an executor. Batches are sent from here."""
        remote = executor.remote_target
        targets = {
            name: target if target.traits.batching is not None else remote(name)
            for name, target in self.targets.items()
        }
        users = {name: remote(name) for name in self.users}
        judges = {name: remote(name) for name in self.judges}
        return replace(self, targets=targets, make=remote, users=users, judges=judges)


def trials_of(plan: Plan, target: str) -> Iterator[Trial]:
    """Every trial of a target. A skipped case has one, whose result says so."""
    options, selector = plan.options, plan.selector
    for number, (suite, case) in enumerate(selector.select(plan.suites)):
        is_asked = options.targets or target in (case.targets or (plan.config.target,))
        if is_asked and (not selector.at or selector.asks(suite, case, target)):
            times = times_of(case, options.repeat)
            for repeat in range(1, times + 1):
                yield Trial(suite, case, target, repeat, times, number)


def prepare_plan(request: RunRequest) -> Plan:
    """Check every case, and make every target and grader.

    Raise SuiteError if a case is invalid, ConfigError if a target or a grader can't be used.
    """
    options, scrubber = request.options, request.scrubber
    if options.env_file is not None:
        variables = read_env_file(options.env_file)
        for name, value in variables.items():
            request.environment.variables.setdefault(name, value)
        scrubber.watch(filter(may_hold_secret, variables))
    warn = _once(lambda text: request.emit(RunWarning(scrubber.text(text))))
    note = _once(lambda text: request.emit(RunNote(scrubber.text(text))))
    given, oracle = request.given or Given(), None
    if options.oracle:
        if options.names_engine:
            raise ConfigError("`oracle` asks no agent, and runs in this process: name no engine")
        request = replace(request, options=replace(options, targets=(ORACLE, UNTOUCHED)))
        from evalcase.runner.oracle import Oracle  # with graders that few runs need

        oracle = Oracle()
        given = replace(given, targets=oracle.targets)
    with errors_without_secrets(scrubber):
        return _prepare_plan(request, given, warn, note, oracle)


def _prepare_plan(
    request: RunRequest, given: Given, warn: Warn, note: Warn, oracle: Oracle | None
) -> Plan:
    options, config, environment = request.options, request.config, request.environment
    if not options.no_exec:
        # The modules of a project are importable, as they are for its tests.
        make_importable(config.root)
    suites = given.suites
    if suites is None:
        suites = Suites(options.paths, environment.cwd, Catalogue(needs_graders=True))
    if oracle is not None:
        suites.change = oracle.keep_part
    surroundings = Surroundings(config.root, environment.variables, warn, wall_time)
    graders = Graders(
        given.graders, surroundings, config=config, no_exec=options.no_exec,
        only_given=given.only_graders,
    )  # fmt: skip
    selector = make_selector(options.selection, paths_from(config.root, environment.cwd))
    found = Survey(
        selector, [name for name in options.targets if not given.has(name, given.targets)],
        "--target" if request.given is None else "target", given.suites is not None,
    )  # fmt: skip
    with collector_paused():
        survey_cases(
            found, suites, options, config, graders, warn, lambda name: given.has(name, given.users)
        )
    if options.no_exec:
        tested = [name for name in found.trials if not given.has(name, given.targets)]
        found.forbidden = find_forbidden_targets(tested, found, config)
    _refuse_problems(found, config, graders if options.no_exec else None)
    _remark(found, suites, config, warn, note)
    if oracle is not None and (unchecked := oracle.name_unchecked(found.selector.select(suites))):
        note(unchecked)
    if faults := graders.make_ready():
        refuse_run(place_grader_faults(faults, config, held=found.held), config, found)
    make = partial(make_target, config=config, surroundings=surroundings, no_exec=options.no_exec)
    targets = {
        name: given.find(name, given.targets)
        or make(name, of_suite=not options.targets and name != config.target)
        for name in found.trials
    }
    users = {
        name: given.find(name, given.users) or make(name, of_suite=True)
        for name in sorted({user for user, _ in found.users} - targets.keys())
    }
    _check_targets(request, found, targets, warn)
    of_given = {name for named in graders.given for name in named.grader.asks()}
    judge_names = {judge for judge, _ in found.judged} | of_given
    judge_names -= targets.keys() | users.keys()
    judges = {name: make(name) for name in sorted(judge_names)}
    known = {**targets, **users, **judges}
    watch_keys(request.scrubber, *known.values())
    if graders.may_ask:
        # Code of graders may ask any target.
        for name in config.targets.keys() - known.keys():
            with suppress(ConfigError):  # the grader that asks it is told
                watch_keys(request.scrubber, make(name))
    request.scrubber.look()  # it warns before any target is asked
    return Plan(
        options, config, environment, suites, found.selector, found.trials,
        sum(found.cases.values()),
        (found.chosen, found.total) if found.chosen < found.total else None, targets, graders,
        request.scrubber, warn, note, make, frozenset({*given.targets, *given.users}), users,
        found, judges, oracle, found.has_workspaces,
    )  # fmt: skip


def _check_targets(
    request: RunRequest, found: Survey, targets: Mapping[str, Target], warn: Warn
) -> None:
    """Raise ConfigError for targets that can't be cached, or can't work in workspaces."""
    options, config = request.options, request.config
    if options.caches(config.cache):
        for name, target in targets.items():
            if target.traits.caching == "refused":
                raise ConfigError(
                    f"target `{name}` can't be cached: nothing says what its answers depend on; "
                    "leave out --cache, or use other targets"
                )
    if not found.workspaces:
        return
    from evalcase.runner.workspaces import (  # few suites have any
        check_machine,
        warn_of_instructions,
    )
    from evalcase.util.processes import check_isolation

    environment = request.environment.variables
    check_machine(environment)
    for name, case in found.workspaces.items():
        if options.engine == "ray" or options.on is not None:
            raise ConfigError(f"case `{case}` has a `workspace`, which Ray can't reach")
        if options.no_exec:
            what = f"case `{case}` has a `workspace`, whose commands --no-exec forbids"
            raise ConfigError(what)
        if not targets[name].traits.workspace and not isinstance(targets[name], NotAsked):
            what = f"target `{name}` can't work in the `workspace` of case `{case}`"
            raise ConfigError(f"{what}: a coding agent, a `command` or a `python` target can")
        isolation, kind = config.targets.get(name, {}).get("isolation", "none"), targets[name].kind
        check_isolation(str(isolation), environment)
        if isolation == "none" and kind is not None and kind.runs_code:
            warn_of_instructions(name, environment, warn)


def _refuse_problems(found: Survey, config: Config, forbidden: Graders | None) -> None:
    """Raise everything that keeps a run from starting, before code of the project is imported."""
    problems = check_plan(config, found)
    if forbidden is not None:
        faults = forbidden.find_forbidden()
        more = place_grader_faults(faults, config, held=found.held, are_forbidden=True)
        problems += [problem for problem in more if problem not in problems]
    refuse_run(in_order(problems), config, found)
    if found.fault is not None:
        raise found.fault
    judges = {judge for judge, _ in found.judged}
    for name in sorted(judges | {user for user, _ in found.users}):
        if config.targets.get(name, {}).get("batch"):
            who = "judge" if name in judges else "simulated user"
            raise ConfigError(
                f"target `{name}` answers in batches, which a {who} can't wait for: give it the "
                "same model without `batch`"
            )


def _remark(found: Survey, suites: SomeSuites, config: Config, warn: Warn, note: Warn) -> None:
    """Tell of warnings in suites, and of models that judge themselves."""
    counts = {"warning": suites.warnings, "note": suites.notes}
    if said := [write_count(number, noun) for noun, number in counts.items() if number]:
        note(f"the suites have {' and '.join(said)}, which `evalcase check` shows")
    for judge, target in sorted(found.judged):
        if (same := describe_same_model(judge, target, config)) is not None:
            warn(same)


def _once(warn: Warn) -> Warn:
    """Says the same thing once, however many trials it is true of."""
    said: set[str] = set()

    def warn_once(text: str) -> None:
        if text not in said:
            said.add(text)
            warn(text)

    return warn_once


# Secrets


def make_scrubber(config: Config, environment: Mapping[str, str], warn: Warn) -> Scrubber:
    names = key_names(config, ())
    scrubber = Scrubber(environment, names, warn)
    for options in config.targets.values():
        own: object = options.get("env")
        # A program may get a variable that evalcase itself doesn't have.
        for name, value in own.items() if isinstance(own, dict) else ():
            if name in names and isinstance(value, str):
                scrubber.add(name, value)
    return scrubber


def watch_keys(scrubber: Scrubber, *targets: Target) -> None:
    """Scrub the variables that targets take secrets from. Some know them once they are open."""
    scrubber.watch(name for target in targets for name in target.traits.key_names)


@contextmanager
def errors_without_secrets(scrubber: Scrubber) -> Iterator[None]:
    """Errors that end a run are printed, and may hold a key."""
    try:
        yield
    except (ConfigError, RecordError, TargetError) as error:
        said = str(error)
        clean = scrubber.text(said)
        if clean == said:
            raise
        raise type(error)(clean) from None


def refuse_secret_names(names: Iterable[str], scrubber: Scrubber) -> None:
    """Names stand in the record as they are, or no run could be resumed."""
    for name in names:
        shown = scrubber.data(name)
        if shown != name:
            raise ConfigError(
                f"target `{shown}` has a secret in its name, and names are kept in the record: let "
                "it take the value from the environment, or configure it under a name of its own"
            )
