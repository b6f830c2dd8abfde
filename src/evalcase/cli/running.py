"""What `run` and `resume` share: the view, Ctrl-C, the summary and the exit code."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import wraps
from time import monotonic
from typing import ParamSpec

from evalcase.cli.terminal import style_for
from evalcase.errors import ConfigError, RecordError, SuiteError, TargetError
from evalcase.evaluation import Evaluated, Evaluation
from evalcase.record.reader import read_results
from evalcase.record.totals import Totals
from evalcase.report.console import RunView, summary_lines
from evalcase.report.text import problem_lines

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
            sys.stderr.write(f"evalcase: {error}\n")
            return 2
        except RecordError as error:
            sys.stderr.write(f"evalcase: {error}\n")
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


def make_view(planned: int, manner: Manner) -> RunView:
    """The view of a run, on standard error: standard output is for what came of it."""
    live = sys.stderr.isatty() and not (manner.quiet or manner.as_json)
    return (
        _QuietView(planned)
        if manner.quiet or manner.as_json
        else RunView(sys.stderr, style_for(sys.stderr), planned, live)
    )


class _QuietView(RunView):
    def __init__(self, planned: int) -> None:
        super().__init__(sys.stderr, style_for(sys.stderr), planned, live=False)

    def say(self, line: str) -> None:
        pass

    def _draw(self) -> None:
        pass


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
        # What an agent prints is not what was asked for on standard output.
        with redirect_stdout(sys.stderr):
            evaluated = asyncio.run(_until_interrupted(evaluation, go, view))
    except asyncio.CancelledError:
        return 130
    finally:
        view.close()
    duration_s = monotonic() - begun
    if manner.as_json:
        sys.stdout.write(json.dumps(_as_json(evaluated, duration_s)) + "\n")
    else:
        _print_summary(evaluated, duration_s, manner)
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
            engine.cancel()
        else:
            view.say("Ctrl-C: finishing what is running; once more to stop now")
            engine.interrupt()

    def look(*_: object) -> None:
        unseen.append(monotonic())
        if unseen[-1] - unseen[0] > _BLOCKED_S:
            # An async function keeps the loop from seeing it. This ends that function.
            raise KeyboardInterrupt

    loop.add_signal_handler(signal.SIGINT, interrupt)
    # Beside the loop, which is told by other means: this is called even while the loop is blocked.
    signal.signal(signal.SIGINT, look)
    try:
        return await task
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _print_summary(evaluated: Evaluated, duration_s: float, manner: Manner) -> None:
    style = style_for(sys.stdout)
    write = sys.stdout.write
    if not manner.quiet:
        for line in summary_lines(read_results(evaluated.run.journal), style):
            write(line + "\n")
    totals = evaluated.totals
    counts = [
        f"{number} {word}"
        for word in ("passed", "failed", "errored", "ungraded", "skipped")
        if (number := getattr(totals, word))
    ]
    rate = pass_rate(totals)
    shown = f", pass rate {rate:.1%}" if rate is not None else ""
    cost = f", ${totals.cost_usd:.4f}" if totals.cost_usd is not None else ""
    write(f"{', '.join(counts) or 'nothing ran'}{shown}{cost}, {duration_s:.1f} s\n")
    write(f"record: {evaluated.run.path}\n")
    if evaluated.status == "interrupted":
        write("interrupted: what was running is finished and kept\n")
    elif evaluated.notice:
        write(f"{evaluated.status}: {evaluated.notice}\n")
    if evaluated.status != "completed":
        write(f"go on with: evalcase resume {evaluated.run.id}\n")


def pass_rate(totals: Totals) -> float | None:
    """The share that passed of all that was tried; None if nothing was."""
    tried = totals.total - totals.skipped
    return totals.passed / tried if tried else None


def _as_json(evaluated: Evaluated, duration_s: float) -> dict[str, object]:
    totals = evaluated.totals
    return {
        "run": evaluated.run.id, "path": evaluated.run.path, "status": evaluated.status,
        "total": totals.total, "passed": totals.passed, "failed": totals.failed,
        "errored": totals.errored, "ungraded": totals.ungraded, "skipped": totals.skipped,
        "pass_rate": pass_rate(totals), "cost_usd": totals.cost_usd,
        "duration_s": round(duration_s, 3),
    }  # fmt: skip


def exit_code(evaluated: Evaluated, gates: Gates) -> int:
    """130 interrupted, 3 errors or not completed, 1 not all passed or a gate not met, else 0."""
    totals = evaluated.totals
    if evaluated.status == "interrupted":
        return 130
    if totals.errored > gates.max_errors or not (evaluated.complete or evaluated.failed_fast):
        return 3
    if evaluated.failed_fast:
        return 1
    if gates.fail_under is not None:
        return 1 if (pass_rate(totals) or 0.0) < gates.fail_under else 0
    return 1 if totals.failed > evaluated.forgiven or totals.ungraded else 0
