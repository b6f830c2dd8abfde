"""What `run` and `resume` share: a run carried out, watched, interrupted and concluded."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple

import click

from evalcase.cli.errors import CRASH_CODE, tell_crash
from evalcase.cli.options import json_option, verbose_option
from evalcase.cli.report_files import Request, request_reports, tell_owed, write_reports
from evalcase.cli.terminal import (
    Streams,
    discard_stream,
    keep_shown,
    make_view,
    same_streams,
    screen_for,
    take_streams,
    write_prose,
)
from evalcase.cli.trust import why_unsealed
from evalcase.config.config import Config
from evalcase.config.options import RunOptions
from evalcase.errors import EvalcaseError, RecordError
from evalcase.report.conclusion import Reader, name_run
from evalcase.report.evaluated import Evaluated, read_evaluated
from evalcase.report.highlights import Highlights
from evalcase.report.json import summary_object
from evalcase.report.progress import RunView
from evalcase.report.source import RecordPlace
from evalcase.report.summary import gather_highlights, last_lines, summary_lines
from evalcase.report.terminal import defuse_lines
from evalcase.runner.event_loop import LoopEndedError, run_async
from evalcase.runner.events import (
    Emit,
    Event,
    LoopBlocked,
    RunNote,
    RunStarted,
    RunWarning,
    TrialFinished,
    TrialStarted,
)
from evalcase.runner.plan import Plan, RunRequest, make_scrubber, prepare_plan
from evalcase.runner.run import Execution
from evalcase.store.folder import Run
from evalcase.store.stored import StoredRun
from evalcase.types.result import first_code
from evalcase.types.value import Value, replace
from evalcase.util.environment import (
    allow_descriptors,
    collector_paused,
    monotonic,
    this_environment,
)
from evalcase.util.secrets import Scrubber

_OWN_DESCRIPTORS, _DESCRIPTORS_OF_TRIAL = 256, 4
"""How many are open at once: of evalcase itself, and of a trial, which may have a program."""
_BLOCKED_S = 0.5
"""How long Ctrl-C may wait for the event loop before the next one takes the short way."""


class Manner(Value, frozen=True):
    """How a run is shown."""

    streams: Streams
    quiet: bool
    as_json: bool
    cwd: str
    """Where the person is; `resume` works elsewhere."""
    is_new: bool = True
    """Whether all of its results are made now: then its record need not be read for a summary."""
    reports: tuple[Request, ...] = ()
    """What is to be written when it is over."""
    is_own: bool = True
    """Whether the record is this user's own, with which `resume` goes on."""
    verbose: bool = False
    """Whether all figures are shown."""

    def make_view(self) -> RunView:
        return make_view(self.streams, quiet=self.quiet or self.as_json)

    def print(self, lines: Iterable[str]) -> None:
        """Write what was asked for to standard output."""
        out = self.streams.out
        try:
            for line in lines:
                out.write(line + "\n")
            out.flush()
        except OSError:
            discard_stream(out)
            raise


class OutputOptions(NamedTuple):
    """The options of a command that shows a run."""

    reports: tuple[str, ...]
    quiet: bool
    verbose: bool
    as_json: bool


def output_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add options to a command, which gets them as `output`."""

    @click.option(
        "-o", "--report", "reports", multiple=True, metavar="FILE",
        help="Write a report at the end; the extension of FILE sets its format. Repeatable.",
    )  # fmt: skip
    @click.option("-q", "--quiet", is_flag=True, help="Print only the last lines.")
    @verbose_option
    @json_option
    @wraps(command)
    def with_output(**given: Any) -> int:  # noqa: ANN401 - each of its option's type
        output = OutputOptions(*(given.pop(name) for name in OutputOptions._fields))
        return command(output=output, **given)

    return with_output


def take_process(output: OutputOptions, *, is_new: bool) -> Manner:
    """Keep standard output for evalcase, which user code shares with it; and how a run is shown."""
    reports, quiet, verbose, as_json = output
    wanted = request_reports(reports)
    return Manner(take_streams(), quiet, as_json, os.getcwd(), is_new, wanted, verbose=verbose)


def ask_for(
    options: RunOptions, config: Config, folder: str, view: RunView, manner: Manner
) -> RunRequest:
    """A run that a person asks for. Its secrets are kept from now on, also by other code."""
    environment = this_environment()
    scrubber = make_scrubber(config, environment.variables, view.warn)
    manner.streams.scrub_lent(scrubber.text)
    return RunRequest(
        options, config, environment, folder, _show_events(view, manner, config, scrubber), scrubber
    )


def _show_events(view: RunView, manner: Manner, config: Config, scrubber: Scrubber) -> Emit:
    """Show a run to a person."""

    def show(event: Event) -> None:
        match event:
            case TrialStarted():
                view.started(event.trial)
            case TrialFinished():
                view.finished(event.result)
            case RunStarted():
                view.resumed(event.finished)
            case RunWarning():
                view.warn(event.text)
            case RunNote():
                view.tell(event.text)
            case LoopBlocked():
                _exit_blocked(event, manner, config, scrubber)

    return show


def go_back(run: Run, config: Config) -> None:
    """Go to where the run was begun: the paths of its suites were written as seen from there."""
    try:
        os.chdir(os.path.join(config.root, run.about.cwd))
    except (OSError, ValueError):
        gone = f"was started in a folder that no longer exists: {run.about.cwd!r}"
        raise RecordError(f"{run.path} {gone}") from None


def plan_shown(request: RunRequest, view: RunView) -> Plan:
    """The plan of a run. The view is told how many trials it has."""
    with same_streams(), collector_paused(for_good=True):
        plan = prepare_plan(request)
    view.expect(plan.trials)
    return plan


def execute_run(execution: Execution, view: RunView, manner: Manner) -> int:
    """Run, show, and say by the exit code how it went."""
    plan = execution.plan
    concurrency = plan.options.concurrency or plan.config.concurrency
    allow_descriptors(_OWN_DESCRIPTORS + _DESCRIPTORS_OF_TRIAL * concurrency)
    try:
        with keep_shown(view):
            evaluated = run_async(_until_interrupted(execution, view))
    except (EvalcaseError, OSError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - how far it came is in the record
        return _conclude_broken(execution, error, manner)
    known = manner.is_new and evaluated.status != "failed"
    highlights = view.highlights if known and not manner.as_json else None
    place = RecordPlace(manner.cwd, execution.plan.config)
    written = print_conclusion(evaluated, highlights, place, manner)
    if not evaluated.complete or evaluated.totals.trials.errored:
        _warn_unsealed(evaluated.run, execution.plan.environment.state)
    return first_code(evaluated.exit_code, written)


def _conclude_broken(execution: Execution, error: BaseException, manner: Manner) -> int:
    """Say what broke a run, and what is kept of it."""
    if isinstance(error, asyncio.CancelledError):
        error = RuntimeError("the run was cancelled by code of a target or a grader")
    elif isinstance(error, LoopEndedError):
        error = RuntimeError(str(error))  # where it was raised says nothing
    said = tell_crash(error, manner.streams.err, execution.plan.scrubber.text)
    if execution.record is not None:
        with StoredRun(execution.record) as kept:
            evaluated = replace(read_evaluated(kept), status="failed", notice=said)
        place = RecordPlace(manner.cwd, execution.plan.config)
        print_conclusion(evaluated, None, place, manner)
    return CRASH_CODE


def _exit_blocked(event: LoopBlocked, manner: Manner, config: Config, scrubber: Scrubber) -> None:
    """Exit while the event loop is blocked: nothing in Python can end the call that blocks it, and
    finished trials are on disk."""
    said = scrubber.text(f"{event.call} blocks all trials beyond its time limit")
    hint = "await what takes long, write a plain function, or use --processes"
    write_prose(f"evalcase: can't continue: {said}; {hint}", manner.streams.err)
    name = name_run(event.run, RecordPlace(manner.cwd, config))
    write_prose(f"finished trials are kept: evalcase resume {name}", manner.streams.err)
    manner.streams.err.flush()
    os._exit(CRASH_CODE)


def _warn_unsealed(run: Run, state: str | None) -> None:
    """Say what it takes to go on with a run that can't be told from a stranger's."""
    why = why_unsealed(run, state)
    if why:
        write_prose(f"{why}; so `evalcase resume` needs --trust", sys.stderr)


def print_conclusion(
    evaluated: Evaluated, highlights: Highlights | None, place: RecordPlace, manner: Manner
) -> int:
    """Say what came of it, and write the reports that are wanted: 0 if that could be done.
    Without highlights, the record is read for them."""
    if manner.as_json:
        manner.print([json.dumps(summary_object(evaluated))])
    else:
        _print_summary(evaluated, highlights, place, manner)
    if not manner.reports:
        return 0 if manner.is_new else tell_owed(evaluated.run)
    with StoredRun(evaluated.run) as kept:
        return write_reports(manner.reports, kept, place, quiet=manner.quiet)


def _print_summary(
    evaluated: Evaluated, highlights: Highlights | None, place: RecordPlace, manner: Manner
) -> None:
    out = manner.streams.out
    reader = Reader(place, screen_for(out), manner.is_own, manner.verbose)
    with StoredRun(evaluated.run) as kept:
        if not manner.quiet:
            highlights = highlights or _known_highlights(evaluated, kept)
        if manner.quiet or highlights is None:
            lines = last_lines(evaluated, reader)
        else:
            lines = summary_lines(evaluated, highlights, kept.find_case, reader)
        manner.print(defuse_lines(lines))


def _known_highlights(evaluated: Evaluated, kept: StoredRun) -> Highlights | None:
    """Those of the record; None where it is the record that failed, and can't be read."""
    try:
        return gather_highlights(kept)
    except RecordError:
        if evaluated.status != "failed":
            raise
        return None


async def _until_interrupted(execution: Execution, view: RunView) -> Evaluated:
    """Ctrl-C once: running trials finish; twice, or before anything runs: it stops."""
    loop = asyncio.get_running_loop()
    unseen: list[float] = []
    """When Ctrl-C was pressed and the loop has not seen it yet."""

    def interrupt() -> None:
        unseen.clear()
        engine = execution.engine
        assert engine is not None
        if engine.interrupted:
            view.say("stopping now")
            view.notice = "stopping"
            engine.cancel()
        else:
            view.say("Ctrl-C: finishing running trials; press it again to stop now")
            view.notice = "finishing"
            engine.interrupt()

    def on_press(*_: object) -> None:
        if execution.engine is None:
            raise KeyboardInterrupt("before anything was run")
        unseen.append(monotonic())
        if unseen[-1] - unseen[0] > _BLOCKED_S:
            # An async function blocks the loop. This ends that function.
            execution.engine.interrupt()
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(interrupt)

    before = signal.signal(signal.SIGINT, on_press)
    try:
        return await execution.run()
    finally:
        signal.signal(signal.SIGINT, before)
