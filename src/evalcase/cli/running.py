"""What `run` and `resume` share: the view, Ctrl-C, the summary and the exit code."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field
from functools import partial, wraps
from itertools import chain
from math import isfinite
from time import monotonic
from typing import ParamSpec, TextIO, cast

import click

from evalcase.cli.terminal import columns_of, is_live, seen_from, style_for
from evalcase.errors import ConfigError, RecordError, SuiteError, TargetError
from evalcase.evaluation.conduct import Evaluation
from evalcase.project.config import Config
from evalcase.project.options import runs_folder
from evalcase.record.evaluated import Evaluated
from evalcase.record.reader import read_results
from evalcase.report.terminal.live import LiveView
from evalcase.report.terminal.problems import problem_lines
from evalcase.report.terminal.quiet import QuietView
from evalcase.report.terminal.sparse import SparseView
from evalcase.report.terminal.statistics import gather
from evalcase.report.terminal.stderr_proxy import StderrProxy
from evalcase.report.terminal.summary import (
    Ending,
    ending_lines,
    summary_lines,
    verdict_lines,
)
from evalcase.report.terminal.view import RunView
from evalcase.text.visible import visible

_BLOCKED_S = 0.5
"""How long Ctrl-C may wait for the event loop before the next one takes the short way."""


@dataclass(frozen=True, slots=True)
class Gates:
    """When a run that went through still counts as not met."""

    max_errors: int = 0
    fail_under: float | None = None


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run is shown."""

    quiet: bool = False
    as_json: bool = False
    cwd: str = field(default_factory=os.getcwd)
    """Where the person is; `resume` works elsewhere."""


def finite(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """A number of an option; `nan` and `inf` are none."""
    if value is not None and not isfinite(value):
        raise click.BadParameter("a finite number is needed")
    return value


Arguments = ParamSpec("Arguments")


def explained(action: Callable[Arguments, int]) -> Callable[Arguments, int]:
    """Turn what keeps a run from starting, or from being kept, into words and an exit code."""

    @wraps(action)
    def explaining(*args: Arguments.args, **kwargs: Arguments.kwargs) -> int:
        try:
            return action(*args, **kwargs)
        except SuiteError as error:
            return _complain(error)
        except (ConfigError, TargetError) as error:
            sys.stderr.write(f"evalcase: {visible(str(error))}\n")
            return 2
        except RecordError as error:
            sys.stderr.write(f"evalcase: {visible(str(error))}\n")
            return 3

    return explaining


def _complain(error: SuiteError) -> int:
    """Print the problems that keep a suite from being run."""
    for problem in error.problems:
        if problem.severity == "error":
            for line in problem_lines(problem, style=style_for(sys.stderr)):
                sys.stderr.write(line + "\n")
    sys.stderr.write("nothing was run\n")
    return 2


def make_view(manner: Manner) -> RunView:
    """The view of a run, on standard error: standard output is for what came of it."""
    if manner.quiet or manner.as_json:
        return QuietView(sys.stderr)
    stream = sys.stderr
    if not is_live(stream):
        return SparseView(stream, style_for(stream))
    columns = partial(columns_of, stream)
    view = LiveView(stream, style_for(stream), columns, same=sys.stdout.isatty())
    # From here on, so that loggers which the user's modules set up write above the line, too.
    sys.stderr = cast("TextIO", StderrProxy(stream, view))
    return view


@contextmanager
def _shown(view: RunView) -> Iterator[None]:
    """Show a run, and leave the terminal as it was, whatever ends it."""
    stderr = sys.stderr

    def tidy_up(number: int, _: object) -> None:
        view.close()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    live = isinstance(view, LiveView)
    before = signal.signal(signal.SIGTERM, tidy_up) if live else None
    view.begin()
    try:
        # What an agent prints is not what was asked for on standard output.
        with redirect_stdout(stderr):
            yield
    finally:
        if isinstance(stderr, StderrProxy):
            stderr.finish()
            sys.stderr = stderr.stream
        view.close()
        if live:
            signal.signal(signal.SIGTERM, before)


def execute(
    evaluation: Evaluation,
    go: Callable[[], Coroutine[None, None, Evaluated]],
    view: RunView,
    manner: Manner,
    gates: Gates,
) -> int:
    """Run, show, and say by the exit code how it went."""
    begun = monotonic()
    try:
        with _shown(view):
            evaluated = asyncio.run(_until_interrupted(evaluation, go, view))
    except asyncio.CancelledError:
        return 130
    duration_s = monotonic() - begun
    if manner.as_json:
        sys.stdout.write(json.dumps(_as_json(evaluated, duration_s)) + "\n")
    else:
        _print_summary(
            evaluated, _ending(evaluated, duration_s, manner, evaluation.plan.config), manner
        )
    return exit_code(evaluated, gates)


async def _until_interrupted(
    evaluation: Evaluation, go: Callable[[], Coroutine[None, None, Evaluated]], view: RunView
) -> Evaluated:
    """Once lets finish what is running, twice stops; before anything runs, once is enough."""
    loop, task = asyncio.get_running_loop(), asyncio.create_task(go())
    unseen: list[float] = []

    def interrupt() -> None:
        unseen.clear()
        engine = evaluation.engine
        if engine is None:
            task.cancel()
        elif engine.interrupted:
            view.say("stopping now")
            view.notice = "stopping"
            engine.cancel()
        else:
            view.say("Ctrl-C: finishing what is running; once more to stop now")
            view.notice = "finishing"
            engine.interrupt()

    def look(*_: object) -> None:
        unseen.append(monotonic())
        if unseen[-1] - unseen[0] > _BLOCKED_S:
            # An async function keeps the loop from seeing it. This ends that function.
            if evaluation.engine is not None:
                evaluation.engine.interrupt()
            raise KeyboardInterrupt

    loop.add_signal_handler(signal.SIGINT, interrupt)
    # Beside the loop, which is told by other means: this is called even while the loop is blocked.
    signal.signal(signal.SIGINT, look)
    try:
        return await task
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _print_summary(evaluated: Evaluated, ending: Ending, manner: Manner) -> None:
    style, width = style_for(sys.stdout), columns_of(sys.stdout)
    if manner.quiet:
        lines: Iterator[str] = chain(
            verdict_lines(ending, width, style), ending_lines(ending, width, style)
        )
    else:
        read = partial(read_results, evaluated.run.journal)
        lines = summary_lines(gather(read, style, width), ending, width, style)
    for line in lines:
        sys.stdout.write(line + "\n")


def _ending(evaluated: Evaluated, duration_s: float, manner: Manner, config: Config) -> Ending:
    record = seen_from(manner.cwd, evaluated.run.path)
    # `resume` finds a run by its id where runs are kept by default; elsewhere it has to be told.
    known = os.path.join(runs_folder(None, config), evaluated.run.id)
    inside = os.path.realpath(known) == os.path.realpath(evaluated.run.path)
    elsewhere = "" if inside else f" --runs-dir {shlex.quote(os.path.dirname(record) or '.')}"
    name = f"{evaluated.run.id}{elsewhere}"
    quiet = manner.quiet and evaluated.status == "completed"
    return Ending(
        evaluated.totals, duration_s, record, _why_incomplete(evaluated),
        "" if quiet else _next(evaluated, name),
    )  # fmt: skip


def _why_incomplete(evaluated: Evaluated) -> str:
    if evaluated.status == "interrupted":
        planned, done = evaluated.run.about.get("trials", "?"), evaluated.totals.trials.total
        return f"interrupted, with {done} of {planned} trials finished and kept"
    return "" if evaluated.status == "completed" else evaluated.notice or evaluated.status


def _next(evaluated: Evaluated, name: str) -> str:
    """The command that most people want now; none if all is well."""
    if evaluated.status != "completed":
        return f"evalcase resume {name}"
    if evaluated.totals.trials.errored:
        return f"evalcase resume {name} --retry-errored"
    return ""


def _as_json(evaluated: Evaluated, duration_s: float) -> dict[str, object]:
    totals = evaluated.totals
    return {
        "run": evaluated.run.id, "path": os.path.abspath(evaluated.run.path),
        "status": evaluated.status,
        **asdict(totals.cases), "pass_rate": totals.pass_rate, "unfinished": totals.unfinished,
        "trials": asdict(totals.trials),
        "cost_usd": totals.cost_usd, "grading_usd": totals.grading_usd,
        "duration_s": round(duration_s, 3),
    }  # fmt: skip


def exit_code(evaluated: Evaluated, gates: Gates) -> int:
    """130 interrupted, 3 errors or not completed, 1 not all passed or a gate not met, else 0."""
    totals, cases = evaluated.totals, evaluated.totals.cases
    if evaluated.status == "interrupted":
        return 130
    if totals.trials.errored > gates.max_errors or not (
        evaluated.complete or evaluated.failed_fast
    ):
        return 3
    if evaluated.failed_fast:
        return 1
    if gates.fail_under is not None:
        return 1 if (totals.pass_rate or 0.0) < gates.fail_under else 0
    return 1 if cases.failed or cases.ungraded else 0
