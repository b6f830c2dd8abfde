"""What `run` and `resume` share: a run carried out, watched, interrupted and concluded."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from evalcase.cli.conclusion import (
    RecordPlace,
    conclusion_lines,
    gather_statistics,
    last_lines,
    name_run,
    summary_object,
)
from evalcase.cli.crash import CRASH_CODE, tell_crash
from evalcase.cli.reports.requested import Request, request_reports, tell_owed, write_reports
from evalcase.cli.streams import Streams, discard_stream, same_streams, take_streams
from evalcase.cli.terminal import columns_of, defuse_lines, style_for, write_prose
from evalcase.cli.watching import keep_shown, make_view
from evalcase.errors import EvalcaseError, RecordError
from evalcase.evaluation.conduct import Evaluation
from evalcase.evaluation.evaluated import Evaluated, read_evaluated
from evalcase.evaluation.request import AskedEngine, RunRequest
from evalcase.evaluation.secrets import make_scrubber
from evalcase.model.exit_codes import first_code
from evalcase.model.target import Warn
from evalcase.model.value import Value, replace
from evalcase.pipeline import PreparedRun, plan_run
from evalcase.project.config import Config
from evalcase.project.options import RunOptions
from evalcase.record.folder import Run
from evalcase.report.terminal.view import RunView
from evalcase.system.clock import monotonic
from evalcase.system.collector import made_for_good
from evalcase.system.descriptors import allow_descriptors
from evalcase.system.loop import describe_stray, run_to_end
from evalcase.system.own_task import OwnTask
from evalcase.system.process_end import end_process, refuse_process_end
from evalcase.system.world import this_world

if TYPE_CHECKING:
    from evalcase.cli.run_flags import EngineFlags, SharedFlags
    from evalcase.evaluation.plan import Plan
    from evalcase.record.kept import KeptRun
    from evalcase.report.terminal.statistics import Statistics

_OWN_DESCRIPTORS, _DESCRIPTORS_OF_TRIAL = 256, 4
"""How many are open at once: of evalcase itself, and of a trial, which may have a program."""
_BLOCKED_S = 0.5
"""How long Ctrl-C may wait for the event loop before the next one takes the short way."""


class PressedError(KeyboardInterrupt):
    """Ctrl-C, and not what some code of the user's raised."""


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


def take_process(flags: SharedFlags, *, is_new: bool) -> Manner:
    """Keep for evalcase what code of the user's shares with it, its streams and its end; and how a
    run is shown there."""
    wanted = request_reports(flags["reports"])
    refuse_process_end()
    return Manner(take_streams(), flags["quiet"], flags["as_json"], os.getcwd(), is_new, wanted)


def ask_for(
    options: RunOptions, config: Config, folder: str, view: RunView, manner: Manner
) -> RunRequest:
    """A run that a person asks for. Its secrets are kept from now on, also by other code."""
    world = this_world()
    scrubber = make_scrubber(config, world.environment, view.warn)
    manner.streams.scrub_lent(scrubber.text)
    return RunRequest(options, config, world, folder, view, view.warn, view.tell, scrubber)


def read_engine(flags: EngineFlags) -> AskedEngine:
    return AskedEngine(flags["engine"], flags["processes"], flags["on"])


def go_back(run: Run, config: Config) -> None:
    """Go to where the run was begun: the paths of its suites were written as seen from there."""
    try:
        os.chdir(os.path.join(config.root, run.about.cwd))
    except (OSError, ValueError):
        gone = f"was started in a folder that no longer exists: {run.about.cwd!r}"
        raise RecordError(f"{run.path} {gone}") from None


def plan_shown(request: RunRequest, view: RunView) -> Plan:
    """The plan of a run, of which the view then knows how much there is to do."""
    with same_streams(), made_for_good():
        plan = plan_run(request)
    view.expect(plan.trials)
    return plan


def carry_out_run(prepared: PreparedRun, view: RunView, manner: Manner) -> int:
    """Run, show, and say by the exit code how it went."""
    evaluation = prepared.evaluation
    plan = evaluation.plan
    concurrency = plan.options.limits(plan.config, {}).concurrency
    allow_descriptors(_OWN_DESCRIPTORS + _DESCRIPTORS_OF_TRIAL * concurrency)
    try:
        with keep_shown(view):
            waiting = _until_interrupted(prepared, view, partial(_leave_stuck, evaluation, manner))
            evaluated = run_to_end(waiting, partial(_tell_stray, evaluation.plan.warn))
    except (EvalcaseError, OSError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - how far it came is in the record
        return _conclude_broken(evaluation, error, manner)
    known = manner.is_new and evaluated.status != "failed"
    statistics = view.statistics if known and not manner.as_json else None
    place = RecordPlace(manner.cwd, evaluation.plan.config)
    written = print_conclusion(evaluated, statistics, place, manner)
    if not evaluated.complete or evaluated.totals.trials.errored:
        _warn_unsealed(evaluated.run, evaluation.plan.world.state)
    return first_code(evaluated.exit_code, written)


def _conclude_broken(evaluation: Evaluation, error: BaseException, manner: Manner) -> int:
    """Say what ended a run that nobody meant to end, and what is kept of it."""
    said = tell_crash(error, manner.streams.err, evaluation.plan.scrubber.text)
    if evaluation.run is not None:
        from evalcase.record.kept import KeptRun

        with KeptRun(evaluation.run) as kept:
            evaluated = replace(read_evaluated(kept), status="failed", notice=said)
        place = RecordPlace(manner.cwd, evaluation.plan.config)
        print_conclusion(evaluated, None, place, manner)
    return CRASH_CODE


def _leave_stuck(evaluation: Evaluation, manner: Manner, what: str) -> None:
    """Leave while the event loop is blocked by what nothing else can end: what is finished is on
    disk. This is another thread."""
    said = evaluation.plan.scrubber.text(f"{what} blocks all trials and can't be stopped")
    write_prose(f"evalcase: can't continue: {said}", manner.streams.err)
    if evaluation.run is not None:
        name = name_run(evaluation.run, RecordPlace(manner.cwd, evaluation.plan.config))
        write_prose(f"finished trials are kept: evalcase resume {name}", manner.streams.err)
    end_process(CRASH_CODE)


def _tell_stray(warn: Warn, error: BaseException) -> None:
    """What code of the user's raised outside of any trial: the run goes on, and what comes of its
    trials says how it ended."""
    if not isinstance(error, PressedError):
        warn(describe_stray(error))


def _warn_unsealed(run: Run, state: str | None) -> None:
    """Say what it takes to go on with a run that can't be told from a stranger's."""
    from evalcase.cli.trust import why_unsealed

    why = why_unsealed(run, state)
    if why:
        write_prose(f"{why}; so `evalcase resume` needs --trust", sys.stderr)


def print_conclusion(
    evaluated: Evaluated, statistics: Statistics | None, place: RecordPlace, manner: Manner
) -> int:
    """Say what came of it, and write the reports that are wanted: 0 if that could be done.
    Statistics that nobody has are made of the record."""
    if manner.as_json:
        manner.print([json.dumps(summary_object(evaluated))])
    else:
        _print_summary(evaluated, statistics, place, manner)
    if not manner.reports:
        return 0 if manner.is_new else tell_owed(evaluated.run)
    from evalcase.record.kept import KeptRun

    with KeptRun(evaluated.run) as kept:
        return write_reports(manner.reports, kept, place, quiet=manner.quiet)


def _print_summary(
    evaluated: Evaluated, statistics: Statistics | None, place: RecordPlace, manner: Manner
) -> None:
    from evalcase.record.kept import KeptRun

    out = manner.streams.out
    width, style = columns_of(out), style_for(out)
    with KeptRun(evaluated.run) as kept:
        if not manner.quiet:
            statistics = statistics or _known_statistics(evaluated, kept)
        if manner.quiet or statistics is None:
            lines = last_lines(evaluated, place, width, style, is_own=manner.is_own)
        else:
            lines = conclusion_lines(
                evaluated, statistics, kept.find_case, place, width, style, is_own=manner.is_own
            )
        manner.print(defuse_lines(lines))


def _known_statistics(evaluated: Evaluated, kept: KeptRun) -> Statistics | None:
    """Those of the record; None where it is the record that failed, and can't be read."""
    try:
        return gather_statistics(kept)
    except RecordError:
        if evaluated.status != "failed":
            raise
        return None


async def _until_interrupted(
    prepared: PreparedRun, view: RunView, on_stuck: Callable[[str], None]
) -> Evaluated:
    """Ctrl-C once: what is running is finished; twice, or before anything runs: it stops."""
    loop, evaluation = asyncio.get_running_loop(), prepared.evaluation
    task = OwnTask(prepared.carry_out(on_stuck), loop=loop)
    unseen: list[float] = []
    given_up: list[None] = []

    def interrupt() -> None:
        unseen.clear()
        engine = evaluation.engine
        if engine is None:
            given_up.append(None)
            task.give_up()
        elif engine.interrupted:
            view.say("stopping now")
            view.notice = "stopping"
            engine.cancel()
        else:
            view.say("Ctrl-C: finishing running trials; press it again to stop now")
            view.notice = "finishing"
            engine.interrupt()

    def look(*_: object) -> None:
        unseen.append(monotonic())
        if evaluation.engine is None:
            raise PressedError  # a module may be imported, which keeps the loop from seeing it
        if unseen[-1] - unseen[0] > _BLOCKED_S:
            # An async function does. This ends that function.
            evaluation.engine.interrupt()
            raise PressedError

    loop.add_signal_handler(signal.SIGINT, interrupt)
    # Beside the loop, which is told by other means: this is called even while the loop is blocked.
    signal.signal(signal.SIGINT, look)
    try:
        return await task
    except asyncio.CancelledError:
        if given_up:
            raise PressedError("before anything was run") from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)
