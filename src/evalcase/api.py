"""`load`, `check` and `evaluate`: the functions that a program calls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, count
from logging import getLogger
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

from evalcase.config.catalogue import Catalogue, check_config_text, check_project
from evalcase.config.config import Config, EngineSettings, read_config
from evalcase.config.graders import read_grader
from evalcase.config.options import Keywords, RunOptions, read_keywords
from evalcase.config.registry import find_class
from evalcase.errors import ConfigError, SuiteError
from evalcase.format.load import (
    CaseStream,
    Loaded,
    has_errors,
    load_case,
    load_file,
    load_text,
    log_warnings,
)
from evalcase.format.positions import Format
from evalcase.format.source import format_of, suite_name
from evalcase.format.writer import suite_text
from evalcase.graders.base import Grader, NamedGrader
from evalcase.report.aggregate import Figuring, read_figures
from evalcase.report.evaluated import Evaluated
from evalcase.report.figures import Figures, Interval
from evalcase.runner.event_loop import run_async
from evalcase.runner.events import Event, RunNote, RunWarning, TrialFinished
from evalcase.runner.plan import Given, Plan, RunRequest, make_scrubber, prepare_plan
from evalcase.runner.run import Execution
from evalcase.runner.select import find_failed
from evalcase.runner.suites import hold_suites
from evalcase.targets.python import PythonTarget, hint_at_answering
from evalcase.types.case import Case, Suite
from evalcase.types.problem import Problem, in_order
from evalcase.types.target import Surroundings, Target, is_target
from evalcase.types.value import replace
from evalcase.util.environment import this_environment, wall_time
from evalcase.util.files import write_atomically

if TYPE_CHECKING:
    from evalcase.runner.regrade import By

Path: TypeAlias = str | os.PathLike[str]
Evaluable: TypeAlias = "Path | Iterable[Path] | Suite | Iterable[Suite] | Case | Iterable[Case]"
"""What can be evaluated: files and folders by their paths, or suites and cases made in Python."""
GivenTarget: TypeAlias = str | Callable[..., Any] | Target
"""A target: its name, `kind:value`, a function, or an object that is one."""
GivenGrader: TypeAlias = Callable[..., Any] | Grader | NamedGrader | str | Mapping[str, Any]
"""A grader: a function, an object that is one, or as a file writes it."""
GivenGraders: TypeAlias = GivenGrader | Iterable[GivenGrader]
ReadGrader: TypeAlias = Callable[[str | Mapping[str, Any]], NamedGrader]
"""Makes a grader of what a file writes."""


def load(path: Path) -> Suite:
    """Load a suite file. Raise SuiteError with all of its problems if it is not valid."""
    return _take_valid(load_file(os.fspath(path), Catalogue()))


def loads(text: str, format: Format = "yaml") -> Suite:
    """Load a suite from text: `yaml`, `json` or `jsonl`."""
    if format not in ("yaml", "json", "jsonl"):
        raise ValueError(f"format is 'yaml', 'json' or 'jsonl', not {format!r}")
    return _take_valid(load_text(text, format, Catalogue()))


def parse_case(text: str) -> Case:
    """Read one eval case from YAML text."""
    case, problems = load_case(text, Catalogue())
    # A lone case is a fragment: how it is graded may be said elsewhere.
    problems = [problem for problem in problems if problem.code != "nothing-to-grade"]
    if case is None or has_errors(problems):
        raise SuiteError(in_order(problems))
    log_warnings(problems, set())
    return case


def iter_cases(path: Path) -> Iterator[Case]:
    """Give the cases of a file one by one; a JSONL file of any size is never held in memory.

    At the first error no more cases are given: the rest of the file is only checked, and then
    SuiteError is raised with all problems.
    """
    name = os.fspath(path)
    if format_of(name) != "jsonl":
        yield from load(name)
        return
    logged: set[tuple[str, str]] = set()
    for item in CaseStream(name, Catalogue()):
        if type(item) is Case:
            yield item
        elif isinstance(item, Problem):
            if item.severity == "error":
                raise SuiteError(load_file(name, Catalogue(), keep=False).problems)
            log_warnings([item], logged)


def check(paths: Path | Iterable[Path], root: Path | None = None) -> list[Problem]:
    """Every problem of every file, in order. It never raises for what files hold.

    Graders and targets have to be there, and their options right; the configuration is that of the
    project. `root` is its folder itself, by default that of the project which the working folder
    belongs to; ConfigError is raised if it is no folder. No code of it is imported.
    """
    several = (paths,) if isinstance(paths, str | os.PathLike) else paths
    catalogue = Catalogue(read_config(os.getcwd(), os.getcwd(), root))
    files = check_project((os.fspath(path) for path in several), catalogue)
    return [problem for loaded in files for problem in loaded.problems]


def check_text(text: str, path: Path, root: Path | None = None) -> list[Problem]:
    """The same for a text that isn't saved yet, as if it stood at its path: for editors.

    A path that ends in `evalcase.toml` or `pyproject.toml` is that of a configuration.
    """
    name = os.fspath(path)
    if os.path.basename(name) in ("evalcase.toml", "pyproject.toml"):
        return check_config_text(text, name)
    format = format_of(name)
    if isinstance(format, Problem):
        return [format]
    catalogue = Catalogue(read_config(os.getcwd(), os.getcwd(), root))
    return load_text(text, format, catalogue, name).problems


def write_suite(suite: Suite | Iterable[Case], path: Path, *, overwrite: bool = False) -> None:
    """Write a suite, or cases, to a YAML file that loads as exactly the same.

    Raise FileExistsError if there is a file already and it isn't to be overwritten, SuiteError if
    what is to be written is no valid suite there, and ValueError if the path isn't that of a YAML
    file. Nothing is written then.
    """
    name = os.fspath(path)
    if format_of(name) != "yaml":
        raise ValueError(f"a suite is written as YAML, to a .yaml or .yml file, not to {name}")
    if not isinstance(suite, Suite):
        suite = Suite(name, {"name": suite_name(name)}, tuple(suite))
    text = suite_text(suite, name, Catalogue())
    write_atomically(name, text.encode(), replace=overwrite)


def _take_valid(loaded: Loaded) -> Suite:
    if loaded.suite is None:
        raise SuiteError(loaded.problems)
    log_warnings(loaded.problems, set())
    return loaded.suite


def evaluate(
    what: Evaluable = ".",
    target: GivenTarget | Iterable[GivenTarget] | None = None,
    *,
    graders: GivenGraders = (),
    users: Mapping[str, GivenTarget] | None = None,
    root: Path | None = None,
    **options: Unpack[Keywords],
) -> Evaluated:
    """Run cases against a target, grade the answers and keep every result. `users` are targets
    that play users, by the names that cases have for them. `root` is the project's folder itself,
    by default that of the project which the working folder belongs to.

    Raise SuiteError if a case is invalid, ConfigError or TargetError if a target can't be used,
    RecordError if nothing can be kept. Failures and errors of trials are results, and not raised.
    """
    if _is_in_loop():
        raise RuntimeError("an event loop is running: `await evalcase.evaluate_async(…)` there")
    return run_async(prepare_evaluation(what, target, graders, root, users, **options).run())


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def evaluate_async(
    what: Evaluable = ".",
    target: GivenTarget | Iterable[GivenTarget] | None = None,
    *,
    graders: GivenGraders = (),
    users: Mapping[str, GivenTarget] | None = None,
    root: Path | None = None,
    **options: Unpack[Keywords],
) -> Evaluated:
    """The same as `evaluate`, for code that is async itself."""
    return await prepare_evaluation(what, target, graders, root, users, **options).run()


def prepare_run(request: RunRequest, plan: Plan, regrade: By | None = None) -> Execution:
    """The run of a plan, and where its targets answer. With `regrade`, stored answers are graded,
    and no target is asked."""
    executor, settings = None, _choose_engine(plan.config, request.options)
    asks = regrade is None and not plan.options.oracle
    if asks and settings is not None and settings.kind != "in-process":
        # Whether a resumed run has anything left to judge is not known yet.
        moved = plan if request.run is None else replace(plan, judges={})
        executor = find_class("executors", settings.kind)(settings, moved)
    return Execution(request, plan, executor, regrade)


def _choose_engine(config: Config, options: RunOptions) -> EngineSettings | None:
    """The settings of the engine that command line or configuration name."""
    given = {"ray": options.on, "processes": options.processes, options.engine: options.engine}
    kinds = [kind for kind, value in given.items() if kind is not None and value is not None]
    if len(kinds) > 1:
        raise ConfigError(f"`{kinds[0]}` and `{kinds[1]}` are two engines: say one")
    settings = config.engine
    if kinds and (settings is None or settings.kind != kinds[0]):
        settings = EngineSettings(kind=kinds[0])
    if settings is None:
        return None
    if options.on is not None:
        return replace(settings, address=options.on)
    return settings if options.processes is None else replace(settings, workers=options.processes)


def figures(
    evaluated: Evaluated, *, cluster: str | None = None, interval: Interval = "wilson",
    pass_at: Iterable[int] = (),
) -> Figures:  # fmt: skip
    """The figures of a run, read from its record: rates with their intervals, of all cases and by
    target, suite, tag and grader. Cases with the same value at the path `cluster` count together;
    `pass_at` has the k of pass@k and pass^k. Raise ConfigError where the run hasn't got them."""
    return read_figures(evaluated, Figuring(interval, cluster, tuple(pass_at)))


# The arguments of a program


def prepare_evaluation(
    what: object, target: GivenTarget | Iterable[GivenTarget] | None, graders: GivenGraders = (),
    root: Path | None = None, users: Mapping[str, GivenTarget] | None = None,
    **keywords: Unpack[Keywords],
) -> Execution:  # fmt: skip
    """All of `evaluate` up to the first question."""
    environment = this_environment()
    config = read_config(environment.cwd, environment.cwd, root)
    warn = keywords.get("on_warning", getLogger("evalcase").warning)
    scrubber = make_scrubber(config, environment.variables, warn)
    around = Surroundings(
        config.root, environment.variables, lambda text: warn(scrubber.text(text)), wall_time
    )
    targets = _name_targets(target, around)
    paths, suites = hold_suites(what)
    folder = config.find_runs(keywords.get("runs_dir"))
    origin = keywords.get("failed_of")
    failed_of = None if origin is None else find_failed(origin, folder, config.root)
    options = read_keywords(keywords, failed_of)
    options = replace(options, paths=paths, targets=tuple(targets))
    given = Given(
        suites,
        {name: each for name, each in targets.items() if each is not None},
        name_graders(graders, partial(read_grader, config=config, no_exec=options.no_exec)),
        users={name: _make_player(each, around) for name, each in (users or {}).items()},
    )
    on_result = keywords.get("on_result")

    def emit(event: Event) -> None:
        if isinstance(event, TrialFinished) and on_result is not None:
            on_result(event.result)
        elif isinstance(event, RunWarning | RunNote):
            warn(event.text)

    request = RunRequest(options, config, environment, folder, emit, scrubber, given)
    return prepare_run(request, prepare_plan(request))


def _make_player(given: GivenTarget, surroundings: Surroundings) -> Target:
    _, player = _name_target(given, surroundings)
    if player is None:
        what = "a user is played by a function or a Target"
        raise ConfigError(f"{what}, not by a name: the case says `target: {given}`")
    return player


def _name_targets(
    target: GivenTarget | Iterable[GivenTarget] | None, surroundings: Surroundings
) -> dict[str, Target | None]:
    """Targets by name; None for those that are only named, and made later."""
    if target is None:
        return {}
    is_one = isinstance(target, str | Mapping | Suite) or callable(target)
    several = target if isinstance(target, Iterable) and not is_one else (target,)
    named: dict[str, Target | None] = {}
    for each in cast("Iterable[GivenTarget]", several):
        name, made = _name_target(each, surroundings)
        # Two functions of the same name are two targets.
        named[_find_free_name(name, named) if made is not None else name] = made
    if not named:
        raise ConfigError("`target` is an empty list: without it, cases are asked of their own")
    return named


def _name_target(target: GivenTarget, surroundings: Surroundings) -> tuple[str, Target | None]:
    if isinstance(target, str):
        return target, None
    if is_target(target):
        return type(target).__name__, target
    if callable(target) or callable(getattr(target, "answer", None)):
        made = PythonTarget.of(target, surroundings)
        return f"python:{made.name}", made
    hint = hint_at_answering(target)
    if isinstance(target, Mapping):
        hint = "options go in evalcase.toml, as [targets.NAME], and NAME is given"
    raise ConfigError(f"a target is a name, a function or a Target, not {target!r:.80}: {hint}")


def name_graders(graders: GivenGraders, read: ReadGrader) -> list[NamedGrader]:
    """Graders by name, for every case of a run: several, or one."""
    several = isinstance(graders, Iterable) and not isinstance(graders, str | Mapping)
    named: dict[str, NamedGrader] = {}
    for each in cast("Iterable[GivenGrader]", graders if several else (graders,)):
        made = read(each) if isinstance(each, str | Mapping) else _name_grader(each)
        name = _find_free_name(made.name, named)
        named[name] = replace(made, name=name)
    return list(named.values())


def _name_grader(grader: object) -> NamedGrader:
    if isinstance(grader, NamedGrader):
        return grader
    if isinstance(grader, Grader):
        if not isinstance(getattr(grader, "name", None), str):
            line = f'name = "{type(grader).__name__.lower()}"'
            raise ConfigError(f"the grader {grader!r:.60} has no name: its class must say `{line}`")
        return NamedGrader(grader.name, grader)
    if callable(grader) and not isinstance(grader, type):
        made = find_class("graders", "python").of(grader)
        return NamedGrader(made.value, made)
    raise ConfigError(
        f"a grader is a function, an object that is a Grader, or as in a file, not {grader!r:.80}"
    )


def _find_free_name(name: str, taken: Mapping[str, object]) -> str:
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if each not in taken)
