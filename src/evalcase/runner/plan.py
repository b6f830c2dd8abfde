"""A run prepared: suites checked, targets and graders made; no target has been asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from types import MappingProxyType

from msgspec import field

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import Config, names_secret, read_env_file
from evalcase.config.options import LocalOptions, RunOptions
from evalcase.config.targets import describe_same_model, key_names, make_target
from evalcase.errors import ConfigError, RecordError, TargetError
from evalcase.format.load import SomeSuites, Suites
from evalcase.runner.events import Watcher
from evalcase.runner.graders import Graders
from evalcase.runner.needs import (
    Needs,
    Survey,
    check_plan,
    describe_remarks,
    find_forbidden_targets,
    place_broken,
    place_grader_faults,
    refuse_run,
    survey_cases,
)
from evalcase.runner.select import Says, Selector, make_selector, plan_trials
from evalcase.store.folder import Run
from evalcase.types.answer import Answer
from evalcase.types.grader import NamedGrader
from evalcase.types.problem import Unfit, in_order
from evalcase.types.question import Question
from evalcase.types.result import Trial, Verdict
from evalcase.types.target import Surroundings, Target, Warn
from evalcase.types.value import Value, replace
from evalcase.util.environment import Environment, collector_paused
from evalcase.util.imports import put_first
from evalcase.util.project import ProjectPaths
from evalcase.util.secrets import Scrubber


class RunRequest(Value, frozen=True):
    """A run as somebody asks for it. No suite has been read, and nothing made."""

    options: RunOptions
    config: Config
    environment: Environment
    folder: str
    """Where records are kept."""
    watcher: Watcher
    warn: Warn
    tell: Warn
    """Says what is good to know, and nothing to worry about."""
    scrubber: Scrubber
    given: Given | None = None
    """What a program has in place of names."""
    local: LocalOptions = LocalOptions()
    run: Run | None = None
    """What it goes on with; None begins a new run."""
    again: tuple[Verdict, ...] = ()
    """The verdicts of trials that are run again."""


def make_scrubber(config: Config, environment: Mapping[str, str], warn: Warn) -> Scrubber:
    """One that knows what the configuration names. What a person should know of it goes to `warn`,
    as it is."""
    names = key_names(config, ())
    scrubber = Scrubber(environment, names, warn)
    for options in config.targets.values():
        own: object = options.get("env")
        # A program may be given a variable that evalcase itself hasn't got.
        for name, value in own.items() if isinstance(own, dict) else ():
            if name in names and isinstance(value, str):
                scrubber.add(name, value)
    return scrubber


def watch_keys(scrubber: Scrubber, *targets: Target) -> None:
    """Take in the variables that targets take secrets from. Some know them once they are open."""
    scrubber.watch(name for target in targets for name in target.traits.key_names)


@contextmanager
def errors_without_secrets(scrubber: Scrubber) -> Iterator[None]:
    """What keeps a run from being carried out is printed, and may have a key in it."""
    try:
        yield
    except (ConfigError, RecordError, TargetError) as error:
        said = str(error)
        clean = scrubber.text(said)
        if clean == said:
            raise
        if isinstance(error, ConfigError) and error.messages:
            raise ConfigError.several([scrubber.text(each) for each in error.messages]) from None
        raise type(error)(clean) from None


def refuse_secret_names(names: Iterable[str], scrubber: Scrubber) -> None:
    """Names are kept in the record as they are, or no run could be resumed."""
    for name in names:
        shown = scrubber.data(name)
        if shown != name:
            raise ConfigError(
                f"target `{shown}` has a secret in its name, and names are kept in the record: let "
                "it take the value from the environment, or configure it under a name of its own"
            )


OpenAll = Callable[[], Awaitable[None]]
"""Opens all who judge that are not open yet."""


def make_judges(
    found: Survey, config: Config, graders: Graders, known: Mapping[str, Target],
    make: Callable[[str], Target],
) -> dict[str, Target]:  # fmt: skip
    """The targets that graders ask, as far as these say it before, but for those that are known
    for something else. Raise ConfigError if one can't be made."""
    of_given = {name for named in graders.given for name in named.grader.asks()}
    names = sorted(_judges_of(found, config) | of_given)
    return {name: make(name) for name in names if name not in known}


def same_models(found: Survey, config: Config) -> Iterator[str]:
    """What is to be said of judges that are asked about answers of their own."""
    default = config.judge.target if config.judge is not None else None
    pairs = {(judge or default, target) for judge, target in found.judged}
    for judge, target in sorted((judge, target) for judge, target in pairs if judge is not None):
        same = describe_same_model(judge, target, config)
        if same is not None:
            yield same


def refuse_batches(found: Survey, config: Config) -> None:
    """Who is asked about an answer, or in the middle of a conversation, has to answer at once."""
    judges = _judges_of(found, config)
    for name in sorted(judges | {user for user, _ in found.users}):
        if config.targets.get(name, {}).get("batch"):
            who = "judge" if name in judges else "simulated user"
            raise ConfigError(
                f"target `{name}` answers in batches, which a {who} can't wait for: give it the "
                "same model without `batch`"
            )


def _judges_of(found: Survey, config: Config) -> set[str]:
    """The names of all who are asked about answers, as far as cases say it."""
    default = config.judge.target if config.judge is not None else None
    names = {judge or default for judge, _ in found.judged}
    return {name for name in names if name is not None}


async def open_before(
    left: Mapping[str, Iterator[Trial]], open_judges: OpenAll
) -> dict[str, Iterator[Trial]]:
    """The same trials. If there is one, whoever judges is opened before it is begun."""
    first = {name: list(islice(trials, 1)) for name, trials in left.items()}
    if any(first.values()):
        await open_judges()
    return {name: chain(first[name], trials) for name, trials in left.items()}


class Given(Value, frozen=True):
    """What a program gives as objects in place of names."""

    suites: SomeSuites | None = None
    targets: Mapping[str, Target] = MappingProxyType({})
    graders: Sequence[NamedGrader] = ()
    only_graders: bool = False
    """Whether they take the place of those that cases have."""
    users: Mapping[str, Target] = MappingProxyType({})
    """Targets that play users, by the names that cases have for them."""
    only_answers: bool = False
    """Whether answers are known, and only graded: then no target of a case is made, or asked."""

    def has_target(self, name: str) -> bool:
        return self.only_answers or name in self.targets

    def has_user(self, name: str) -> bool:
        return self.only_answers or name in self.users

    def find(self, name: str, known: Mapping[str, Target]) -> Target | None:
        """A target that need not be made of its name."""
        return NotAsked() if self.only_answers else known.get(name)


class NotAsked(Target):
    """Stands for a target whose answers are known."""

    async def answer(self, question: Question) -> Answer:
        raise AssertionError(f"case {question.case} was asked, and is only to be graded")


class Plan(Value, frozen=True):
    """Everything that a run needs. What could be wrong before it starts has been looked for."""

    options: RunOptions
    config: Config
    environment: Environment
    suites: SomeSuites
    selector: Selector
    """Which of their cases are run."""
    trials: Mapping[str, int]
    """How many trials there are of each target."""
    cases: int
    """How many cases there are, each once for each of its targets."""
    selected: tuple[int, int] | None
    """How many cases were chosen, and of how many; None where that is all."""
    targets: Mapping[str, Target]
    """Those of cases."""
    graders: Graders
    scrubber: Scrubber
    warn: Warn
    tell: Warn
    """Says what is good to know, and nothing to worry about."""
    make: Callable[[str], Target]
    """Makes a target of the configuration that only graders ask."""
    given_targets: frozenset[str] = frozenset()
    """The names of targets that a program gives as objects."""
    users: Mapping[str, Target] = field(default_factory=dict)
    """Those that play users, and that no case is asked of."""
    needs: Needs = Needs({})
    """What has to be there for it, and who says so."""
    judges: Mapping[str, Target] = field(default_factory=dict)
    """Those that only graders ask, as far as these say it before."""

    def explain_unopened(self, name: str, error: ConfigError) -> ConfigError:
        """Why a target can't be opened, with the place where it is named, if a file does."""
        if name in self.judges:
            error = ConfigError(f"`{name}` judges, and can't be opened: {error}")
        is_given = name in self.given_targets
        return error if is_given else place_broken(name, error, self.config, self.needs)

    def askable(self, name: str) -> Target:
        """A target of a case, or one that plays a user."""
        return self.targets[name] if name in self.targets else self.users[name]

    @property
    def planned(self) -> int:
        """How many trials there are in all."""
        return sum(self.trials.values())


def trials_of(plan: Plan, name: str, stands: Says | None = None) -> Iterator[Trial]:
    """Every trial of a target, whether it is finished or not; but for those of which somebody says
    that what they have `stands`."""
    options, default = plan.options, plan.config.target
    cases = plan.selector.select(plan.suites)
    asks = plan.selector.asks if plan.selector.at else None
    overridden = bool(options.targets)
    return plan_trials(cases, name, default, options.repeat, overridden, asks, stands)


def prepare_plan(request: RunRequest) -> Plan:
    """Check every case, and make every target and grader, before anybody is asked.

    Raise SuiteError if a case is invalid, ConfigError if a target or a grader can't be used.
    """
    scrubber = request.scrubber
    if request.options.env_file is not None:
        given_by_file = read_env_file(request.options.env_file)
        for name, value in given_by_file.items():
            request.environment.variables.setdefault(name, value)
        scrubber.watch(filter(names_secret, given_by_file))
    warn, tell = (_scrub_warnings(each, scrubber) for each in (request.warn, request.tell))
    with errors_without_secrets(scrubber):
        return _prepare_plan(replace(request, warn=warn, tell=tell))


def _prepare_plan(request: RunRequest) -> Plan:
    options, config, environment, warn = (
        request.options,
        request.config,
        request.environment,
        request.warn,
    )
    given, scrubber = request.given, request.scrubber
    named_by = "--target" if given is None else "target"
    given = given or Given()
    if not options.no_exec:
        # A project's own modules are importable, as they are for its tests.
        put_first(config.root, environment.import_path)
    suites = given.suites
    if suites is None:
        suites = Suites(options.paths, environment.cwd, Catalogue(needs_graders=True))
    surroundings = Surroundings(config.root, environment.variables, warn, environment.now)
    graders = Graders(
        given.graders, surroundings, config=config, no_exec=options.no_exec,
        only_given=given.only_graders,
    )  # fmt: skip
    selector = make_selector(options.selection, ProjectPaths(config.root, environment.cwd).find)
    with collector_paused():
        found = survey_cases(suites, options, config, graders, selector, warn, given.has_user)
    named = [name for name in options.targets if not given.has_target(name)]
    forbidden: dict[str, Unfit] = {}
    if options.no_exec:
        made = [name for name in found.trials if not given.has_target(name)]
        forbidden = find_forbidden_targets(made, found.needs, config)
    needs = Needs(found.needs, named, named_by, given.suites is not None, forbidden)
    _refuse_plan(found, config, needs, graders if options.no_exec else None)
    if remarks := describe_remarks(suites):
        request.tell(remarks)
    trials = found.trials
    refuse_batches(found, config)
    for same in same_models(found, config):
        warn(same)
    for user, target in sorted(found.users):
        if (talks_alone := Catalogue(config).describe_same_user(user, target)) is not None:
            warn(talks_alone)
    if faults := graders.make_ready():
        refuse_run(place_grader_faults(faults, config, held=needs.held), config, needs)
    make = partial(
        make_target, config=config, surroundings=surroundings, no_exec=options.no_exec
    )  # fmt: skip
    targets = _make_targets(trials, options, config, given, make)
    users = _make_users(found, targets, given, make)
    if options.caches(config.cache):
        _check_caching(targets)
    judges = make_judges(found, config, graders, {**targets, **users}, make)
    known = {**targets, **users, **judges}
    askable = _askable_targets(config, known, make) if graders.may_ask else ()
    watch_keys(scrubber, *known.values(), *askable)
    scrubber.look()  # what it warns of is said before anybody is asked
    return Plan(
        options, config, environment, suites, found.selector, trials, sum(found.cases.values()),
        (found.chosen, found.total) if found.chosen < found.total else None, targets, graders,
        scrubber, warn, request.tell, make,
        frozenset({*given.targets, *given.users}), users, needs, judges,
    )  # fmt: skip


def _refuse_plan(found: Survey, config: Config, needs: Needs, forbidden: Graders | None) -> None:
    """Tell all that keeps a run from asking at once, before anything of the project is imported."""
    problems = check_plan(config, needs, found.errors, found.invalid)
    if forbidden is not None:
        faults = forbidden.find_forbidden()
        more = place_grader_faults(faults, config, held=needs.held, are_forbidden=True)
        problems += [problem for problem in more if problem not in problems]
    refuse_run(in_order(problems), config, needs)
    if found.fault is not None:
        raise found.fault


def _make_targets(
    trials: Mapping[str, int],
    options: RunOptions,
    config: Config,
    given: Given,
    make: Callable[..., Target],
) -> dict[str, Target]:
    made: dict[str, Target] = {}
    for name in trials:
        of_suite = not options.targets and name != config.target
        made[name] = given.find(name, given.targets) or make(name, of_suite=of_suite)
    return made


def _make_users(
    found: Survey, targets: Mapping[str, Target], given: Given, make: Callable[..., Target]
) -> dict[str, Target]:
    """The targets that play users, but for those that are tested, too."""
    names = sorted({user for user, _ in found.users})
    return {
        name: given.find(name, given.users) or make(name, of_suite=True)
        for name in names
        if name not in targets
    }


def _askable_targets(
    config: Config, targets: Mapping[str, Target], make: Callable[[str], Target]
) -> Iterator[Target]:
    """The other targets of the configuration, which graders may ask: their keys are secret, too."""
    for name in config.targets:
        if name not in targets:
            with suppress(ConfigError):  # whoever asks it is told
                yield make(name)


def _check_caching(targets: Mapping[str, Target]) -> None:
    for name, target in targets.items():
        if target.traits.caching == "refused":
            raise ConfigError(
                f"target `{name}` can't be cached: nothing says what its answers depend on; "
                "leave out --cache, or use other targets"
            )


def _scrub_warnings(warn: Warn, scrubber: Scrubber) -> Warn:
    return warn_once(lambda text: warn(scrubber.text(text)))


def warn_once(warn: Warn) -> Warn:
    """Say the same thing once in a run, however many trials it is true of."""
    said: set[str] = set()

    def say(text: str) -> None:
        if text not in said:
            said.add(text)
            warn(text)

    return say
