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

from evalcase.config.catalogue import Catalogue, check_config_text, check_project, project_catalogue
from evalcase.errors import SuiteError
from evalcase.format.load import (
    Loaded,
    LoggedWarnings,
    has_errors,
    load_case,
    load_file,
    load_text,
    log_warnings,
    stream_cases,
)
from evalcase.format.positions import Format
from evalcase.format.source import format_of, suite_name
from evalcase.format.writer import suite_text
from evalcase.types.case import Case
from evalcase.types.problem import Problem, in_order
from evalcase.types.suite import Suite
from evalcase.util.files import write_atomically

if TYPE_CHECKING:
    from evalcase.config.options import Keywords
    from evalcase.evaluation.called import GivenGraders, GivenTarget
    from evalcase.evaluation.conduct import Evaluation
    from evalcase.evaluation.evaluated import Evaluated
    from evalcase.evaluation.grading import By
    from evalcase.evaluation.plan import Plan
    from evalcase.evaluation.request import RunRequest
    from evalcase.evaluation.stopping import Stopping
    from evalcase.report.figures.figures import Figures, Interval
    from evalcase.runner.event_loop import BlockingCall
    from evalcase.runner.workplace import Workplace

Path: TypeAlias = str | os.PathLike[str]
Evaluable: TypeAlias = "Path | Iterable[Path] | Suite | Iterable[Suite] | Case | Iterable[Case]"
"""What can be evaluated: files and folders by their paths, or suites and cases made in Python."""


def load(path: str | os.PathLike[str]) -> Suite:
    """Load a suite file. Raise SuiteError with all of its problems if it is not valid."""
    return _take_valid(load_file(os.fspath(path), Catalogue()))


def loads(text: str, format: Format = "yaml") -> Suite:
    """Load a suite from text: `yaml`, `json` or `jsonl`."""
    if not isinstance(text, str):
        raise TypeError(f"loads takes text, not {type(text).__name__}; load takes a path")
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
    for item in stream_cases(name, Catalogue()):
        if type(item) is Case:
            yield item
        elif isinstance(item, Problem):
            if item.severity == "error":
                raise SuiteError(load_file(name, Catalogue(), keep=False).problems)
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
    catalogue = project_catalogue(os.getcwd(), root)
    files = check_project((os.fspath(path) for path in several), catalogue)
    return [problem for loaded in files for problem in loaded.problems]


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
    return load_text(text, format, project_catalogue(os.getcwd(), root), name).problems


def write_suite(
    suite: Suite | Iterable[Case], path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
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
    from evalcase.runner.event_loop import run_async

    if _is_in_loop():
        raise RuntimeError("an event loop is running: `await evalcase.evaluate_async(…)` there")
    prepared = prepare_evaluation(what, target, graders, root, users, **options)
    return run_async(prepared.carry_out(), prepared.warn_of_stray)


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
        self, on_overdue: Callable[[BlockingCall], None] = lambda _: None
    ) -> Coroutine[None, None, Evaluated]:
        """Open targets and record, send each trial that is left through ask, grade and keep, and
        conclude. `on_overdue` is called with a call that blocks the event loop for too long."""
        request = self.request
        return self.evaluation.carry_out(request.folder, request.run, request.again, on_overdue)

    def warn_of_stray(self, what: str) -> None:
        """Report what user code did outside of any trial."""
        self.request.warn(self.request.scrubber.text(what))


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
    from evalcase.util.environment import this_environment

    request = read_call(what, target, graders, users or {}, root, options, this_environment())
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
    from evalcase.places.chosen import choose_engine, make_workplace
    from evalcase.types.value import replace

    if request.run is not None:
        plan = replace(plan, judges={})  # nobody knows yet if anything is left to judge
    return make_workplace(choose_engine(plan.config, request.local), plan)


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
