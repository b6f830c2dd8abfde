"""load, check and evaluate: the stages wired together. The file to read first.

    path →read→ document →resolve→ suite →plan→ trials →ask→ answers →grade→ results →record→ run

A document knows values and places, resolving knows the format: `suites` brings the two together.
To evaluate is to prepare a plan (suites checked, targets and graders made), to open targets and
record, to send each trial that is left through ask, grade and keep, and to conclude.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
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
    from evalcase.evaluation.grading import By
    from evalcase.evaluation.plan import Plan
    from evalcase.evaluation.request import RunRequest
    from evalcase.evaluation.stopping import Stopping
    from evalcase.plugins.given import GivenGraders, GivenTarget
    from evalcase.project.keywords import Keywords
    from evalcase.report.figures.figures import Figures, Interval
    from evalcase.run.workplace import Workplace

Path: TypeAlias = str | os.PathLike[str]
Evaluable: TypeAlias = "Path | Iterable[Path] | Suite | Iterable[Suite] | Case | Iterable[Case]"
"""What can be evaluated: files and folders by their paths, or suites and cases made in Python."""


def load(path: str | os.PathLike[str]) -> Suite:
    """Load a suite file. Raise SuiteError with all of its problems if it is not valid."""
    return _take_valid(load_file(os.fspath(path)))


def loads(text: str, format: Format = "yaml") -> Suite:
    """Load a suite from text: `yaml`, `json` or `jsonl`."""
    if not isinstance(text, str):
        raise TypeError(f"loads takes text, not {type(text).__name__}; load takes a path")
    if format not in ("yaml", "json", "jsonl"):
        raise ValueError(f"format is 'yaml', 'json' or 'jsonl', not {format!r}")
    return _take_valid(load_text(text, format))


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
    loaded_files = check_project((os.fspath(path) for path in several), _find_project(root))
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
    return check_text_as(text, name, format, _find_project(root))


def _find_project(root: str | os.PathLike[str] | None) -> Project:
    folder = os.getcwd()
    return project_of(folder) if root is None else Project(take_root(os.fspath(root)), folder)


def _take_valid(loaded: Loaded) -> Suite:
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
    from evalcase.system.loop import run_to_end

    if _is_in_loop():
        raise RuntimeError("an event loop is running: `await evalcase.evaluate_async(…)` there")
    prepared = prepare_evaluation(what, target, graders, root, users, **options)
    return run_to_end(prepared.carry_out(), prepared.warn_of_stray)


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
    return await prepare_evaluation(what, target, graders, root, users, **options).carry_out()


class PreparedRun(NamedTuple):
    """A run before its first question."""

    evaluation: Evaluation
    request: RunRequest

    def carry_out(
        self, on_stuck: Callable[[str], None] = lambda _: None
    ) -> Coroutine[None, None, Evaluated]:
        """Open targets and record, send each trial that is left through ask, grade and keep, and
        conclude. `on_stuck` is told of a call that blocks the event loop and can't be ended."""
        request = self.request
        return self.evaluation.carry_out(request.folder, request.run, request.again, on_stuck)

    def warn_of_stray(self, error: BaseException) -> None:
        """Report what user code raised outside of any trial."""
        from evalcase.system.loop import describe_stray

        self.request.warn(self.request.scrubber.text(describe_stray(error)))


def prepare_evaluation(
    what: Evaluable,
    target: GivenTarget | Iterable[GivenTarget] | None,
    graders: GivenGraders = (),
    root: Path | None = None,
    users: Mapping[str, GivenTarget] | None = None,
    **options: Unpack[Keywords],
) -> PreparedRun:
    """All of `evaluate` up to the first question: for whoever runs it in another way."""
    from evalcase.evaluation.called import read_call
    from evalcase.system.world import this_world

    request = read_call(what, target, graders, users or {}, root, options, this_world())
    return ready_run(request, plan_run(request))


def plan_run(request: RunRequest) -> Plan:
    """Check every suite, and make every target and grader. Whoever asks for a run comes by here:
    `evaluate`, the command and the plug-in of pytest."""
    # Who only loads or checks need not wait for it.
    from evalcase.evaluation.plan import prepare_plan

    return prepare_plan(request)


def ready_run(request: RunRequest, plan: Plan, by: By | None = None) -> PreparedRun:
    """Say where the trials of a plan are answered, and what may end it early. With `by`, answers
    that are known are graded by that, and no target is asked."""
    from evalcase.evaluation.conduct import Evaluation

    workplace = _find_workplace(request, plan) if by is None else None
    stopping = _find_stopping(request, plan) if request.run is None else None
    return PreparedRun(Evaluation(plan, request.watcher, by, workplace, stopping), request)


def _find_stopping(request: RunRequest, plan: Plan) -> Stopping | None:
    """What may end a new run early, if something may."""
    if plan.options.stop is None:
        return None
    from evalcase.evaluation.stopping import make_stopping

    return make_stopping(plan, request.folder)


def _find_workplace(request: RunRequest, plan: Plan) -> Workplace | None:
    """Where trials are answered, if that is not in this process."""
    if plan.config.engine is None and request.engine == (None, None, None):
        return None
    from evalcase.model.value import replace
    from evalcase.places.chosen import choose_engine, make_workplace

    if request.run is not None:
        plan = replace(plan, judges={})  # nobody knows yet if anything is left to judge
    return make_workplace(choose_engine(plan.config, *request.engine), plan)


def figures(
    evaluated: Evaluated, *, cluster: str | None = None, interval: Interval = "wilson",
    pass_at: Iterable[int] = (),
) -> Figures:  # fmt: skip
    """The figures of a run, read from its record: rates with their intervals, of all cases and by
    target, suite, tag and grader. Cases with the same value at the path `cluster` count together;
    `pass_at` has the k of pass@k and pass^k. Raise ConfigError where the run hasn't got them."""
    from evalcase.evaluation.figures import Figuring, read_figures

    return read_figures(evaluated, Figuring(interval, cluster, tuple(pass_at)))


def _is_in_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
