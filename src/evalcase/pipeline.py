"""load, check and evaluate: the stages wired together. The file to read first.

    path →read→ document →resolve→ suite →plan→ trials →ask→ answers →grade→ results →record→ run

A document knows values and places, resolving knows the format: `suites` brings the two together.
To evaluate is to prepare a plan (suites checked, targets and graders made), to open targets and
record, to send each trial that is left through ask, grade and keep, and to conclude.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, Unpack

from evalcase.errors import SuiteError
from evalcase.model.case import Case
from evalcase.model.problem import Problem, in_order
from evalcase.model.suite import Suite
from evalcase.read.discover import format_of
from evalcase.read.document import Format
from evalcase.suites.check import (
    Project,
    check_config_text,
    check_project,
    check_text_as,
    project_of,
)
from evalcase.suites.load import Loaded, has_errors, load_case, load_file, load_text
from evalcase.suites.logged import LoggedWarnings, log_warnings
from evalcase.suites.stream import stream_cases
from evalcase.system.project_root import take_root

if TYPE_CHECKING:
    from evalcase.evaluation.conduct import Evaluation
    from evalcase.evaluation.evaluated import Evaluated
    from evalcase.plugins.given import GivenGraders, GivenTarget
    from evalcase.project.keywords import Keywords
    from evalcase.report.figures.figures import Figures, Interval
    from evalcase.text.secrets import Scrubber

Path: TypeAlias = str | os.PathLike[str]
Evaluable: TypeAlias = "Path | Iterable[Path] | Suite | Iterable[Suite] | Case | Iterable[Case]"
"""What can be evaluated: files and folders by their paths, or suites and cases made in Python."""


def load(path: str | os.PathLike[str]) -> Suite:
    """Load a suite file. Raise SuiteError with all of its problems if it is not valid."""
    return _valid(load_file(os.fspath(path)))


def loads(text: str, format: Format = "yaml") -> Suite:
    """Load a suite from text: `yaml`, `json` or `jsonl`."""
    if not isinstance(text, str):
        raise TypeError(f"loads takes text, not {type(text).__name__}; load takes a path")
    if format not in ("yaml", "json", "jsonl"):
        raise ValueError(f"format is 'yaml', 'json' or 'jsonl', not {format!r}")
    return _valid(load_text(text, format))


def parse_case(text: str) -> Case:
    """Read one eval case from YAML text."""
    case, problems = load_case(text)
    # A lone case is a fragment: how it is graded may be said elsewhere.
    problems = [problem for problem in problems if problem.code != "nothing-to-grade"]
    if case is None or has_errors(problems):
        raise SuiteError(in_order(problems))
    log_warnings(problems)
    return case


def iter_cases(path: str | os.PathLike[str]) -> Iterator[Case]:
    """Give the cases of a file one by one; a JSONL file of any size is never held in memory.

    At the first error no more cases are given: the rest of the file is only checked, and then
    SuiteError is raised with all problems.
    """
    name = os.fspath(path)
    if format_of(name) != "jsonl":
        yield from load(name)
        return
    warnings = LoggedWarnings()
    for item in stream_cases(name):
        if type(item) is Case:
            yield item
        elif isinstance(item, Problem):
            if item.severity == "error":
                raise SuiteError(load_file(name, keep=False).problems)
            warnings.add(item)
    warnings.log()


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    root: str | os.PathLike[str] | None = None,
) -> list[Problem]:
    """Every problem of every file, in order. It never raises for what files hold.

    Graders and targets have to be there, and their options right; the configuration is that of the
    project. `root` is its folder itself, by default that of the project which the working folder
    belongs to; ConfigError is raised if it is no folder. No code of it is imported.
    """
    several = (paths,) if isinstance(paths, str | os.PathLike) else paths
    loaded_files = check_project((os.fspath(path) for path in several), _project(root))
    return [problem for loaded in loaded_files for problem in loaded.problems]


def check_text(
    text: str, path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None
) -> list[Problem]:
    """The same for a text that isn't saved yet, as if it stood at its path: for editors.

    A path that ends in `evalcase.toml` or `pyproject.toml` is that of a configuration.
    """
    name = os.fspath(path)
    if os.path.basename(name) in ("evalcase.toml", "pyproject.toml"):
        return check_config_text(text, name)
    format = format_of(name)
    if isinstance(format, Problem):
        return [format]
    return check_text_as(text, name, format, _project(root))


def _project(root: str | os.PathLike[str] | None) -> Project:
    folder = os.getcwd()
    return project_of(folder) if root is None else Project(take_root(os.fspath(root)), folder)


def _valid(loaded: Loaded) -> Suite:
    if loaded.suite is None:
        raise SuiteError(loaded.problems)
    log_warnings(loaded.problems)
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
    that play users, by the names that cases have for them.

    Raise SuiteError if a case is invalid, ConfigError or TargetError if a target can't be used,
    RecordError if nothing can be kept. Failures and errors of trials are results, and not raised.
    """
    from evalcase.evaluation.listener import log_warning
    from evalcase.system.loop import describe_stray, run_to_end

    if _is_in_loop():
        raise RuntimeError("an event loop is running: `await evalcase.evaluate_async(…)` there")
    warn = options.get("on_warning", log_warning)
    scrubbers: list[Scrubber] = []

    def tell(error: BaseException) -> None:
        said = describe_stray(error)
        warn(scrubbers[0].text(said) if scrubbers else said)

    return run_to_end(
        _evaluate(what, target, graders, users or {}, root, options, scrubbers.append), tell
    )


def figures(
    evaluated: Evaluated, *, cluster: str | None = None, interval: Interval = "wilson",
    pass_at: Iterable[int] = (),
) -> Figures:  # fmt: skip
    """The figures of a run, read from its record: rates with their intervals, of all cases and by
    target, suite, tag and grader. Cases with the same value at the path `cluster` count together;
    `pass_at` has the k of pass@k and pass^k. Raise ConfigError where the run hasn't got them."""
    from evalcase.evaluation.figures import Figuring, read_figures

    return read_figures(evaluated, Figuring(interval, cluster, tuple(pass_at)))


async def evaluate_async(
    what: Evaluable = ".",
    target: GivenTarget | Iterable[GivenTarget] | None = None,
    *,
    graders: GivenGraders = (),
    users: Mapping[str, GivenTarget] | None = None,
    root: Path | None = None,
    **options: Unpack[Keywords],
) -> Evaluated:
    """The same as `evaluate`, for code that is async itself. `root` is the project's folder itself,
    by default that of the project which the working folder belongs to."""
    return await _evaluate(what, target, graders, users or {}, root, options, lambda _: None)


async def _evaluate(
    what: Evaluable, target: GivenTarget | Iterable[GivenTarget] | None,
    graders: GivenGraders, users: Mapping[str, GivenTarget], root: Path | None,
    options: Keywords, known: Callable[[Scrubber], None],
) -> Evaluated:  # fmt: skip
    """`known` is given what takes secrets out of what is said, as soon as there is one."""
    evaluation, folder = prepare_evaluation(what, target, graders, root, users, **options)
    known(evaluation.plan.scrubber)
    return await evaluation.carry_out(folder)


class PreparedRun(NamedTuple):
    """A run of which nobody has been asked anything yet."""

    evaluation: Evaluation
    folder: str
    """Where its record goes."""


def prepare_evaluation(
    what: Evaluable,
    target: GivenTarget | Iterable[GivenTarget] | None,
    graders: GivenGraders = (),
    root: Path | None = None,
    users: Mapping[str, GivenTarget] | None = None,
    **options: Unpack[Keywords],
) -> PreparedRun:
    """All of `evaluate` up to the first question: for who carries it out in a way of his own."""
    # Who only loads or checks need not wait for all this.
    from evalcase.evaluation.conduct import Evaluation
    from evalcase.evaluation.failed_of import find_failed
    from evalcase.evaluation.listener import Listener, log_warning
    from evalcase.evaluation.plan import Given, prepare
    from evalcase.evaluation.secrets import make_scrubber
    from evalcase.model.target import Surroundings
    from evalcase.plugins.given import name_graders, name_targets, name_users
    from evalcase.project.config import read_config, read_config_of
    from evalcase.project.keywords import read_keywords
    from evalcase.project.options import runs_folder
    from evalcase.suites.collection import hold_suites
    from evalcase.suites.made import read_grader
    from evalcase.system.world import this_world

    world = this_world()
    if root is None:
        config = read_config(world.cwd, world.cwd)
    else:
        config = read_config_of(os.fspath(root), world.cwd)
    warn = options.get("on_warning", log_warning)
    scrubber = make_scrubber(config, world.environment, warn)
    around = Surroundings(config.root, world.environment, lambda text: warn(scrubber.text(text)))
    targets = name_targets(target, around)
    made = {name: each for name, each in targets.items() if each is not None}
    paths, suites = hold_suites(what)
    folder, origin = runs_folder(options.get("runs_dir"), config), options.get("failed_of")
    failed_of = find_failed(origin, folder, config.root) if origin is not None else None
    chosen = read_keywords(paths, tuple(targets), options, failed_of)
    read = partial(read_grader, config=config, no_exec=chosen.no_exec)
    users_by_name = name_users(users or {}, around)
    given = Given(suites, made, name_graders(graders, read), users=users_by_name)
    plan = prepare(chosen, config, world, warn, given, scrubber)
    evaluation = Evaluation(plan, Listener(options.get("on_result")))
    if config.engine is not None or {"engine", "processes", "on"} & options.keys():
        from evalcase.places.chosen import choose_engine, make_place

        said = (options.get("engine"), options.get("processes"), options.get("on"))
        engine = choose_engine(config, *said)
        evaluation.place = make_place(engine, plan)
    if chosen.stop is not None:
        from evalcase.evaluation.stopping import make_stopping

        evaluation.stopping = make_stopping(plan, folder)
    return PreparedRun(evaluation, folder)


def _is_in_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
