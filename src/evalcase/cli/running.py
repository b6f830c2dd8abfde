"""What commands share that make, continue or merge runs: a run executed, watched, interrupted and
concluded, with the reports that were asked for."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TextIO

import click
from rich.file_proxy import FileProxy

from evalcase.cli.options import F, json_option, verbose_option
from evalcase.cli.terminal import (
    CRASH_CODE,
    discard_stream,
    is_live,
    print_lines,
    same_streams,
    screen_for,
    take_streams,
    tell_crash,
    tell_written,
    write_prose,
)
from evalcase.config.config import Config
from evalcase.config.options import RunOptions
from evalcase.errors import ConfigError, EvalcaseError, RecordError
from evalcase.report.aggregate import TROUBLED, Highlights
from evalcase.report.evaluated import Evaluated, name_run, read_evaluated
from evalcase.report.formats import Reported, form_of, require_form, write_file
from evalcase.report.json import summary_object
from evalcase.report.progress import LiveView, LogView, RunView
from evalcase.report.summary import last_lines, summary_lines
from evalcase.report.terminal import Reader, defuse_lines, seen_from
from evalcase.runner.event_loop import LoopEndedError, run_async
from evalcase.runner.events import (
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
from evalcase.store.folder import Run, why_unsealed
from evalcase.store.stored import StoredRun
from evalcase.types.result import first_code
from evalcase.types.value import replace
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


def output_options(command: F) -> F:
    """Add the options of what is shown and written, which a Session takes."""
    report = click.option(
        "-o", "--report", "reports", multiple=True, metavar="FILE",
        help="Write a report at the end; the extension of FILE sets its format. Repeatable.",
    )  # fmt: skip
    quiet = click.option("-q", "--quiet", is_flag=True, help="Print only the last lines.")
    return report(quiet(verbose_option(json_option(command))))


class Session:
    """A command at work on a run, and how a person sees that. Standard output is kept for evalcase,
    which user code shares with it."""

    def __init__(self, config: Config, asked: dict[str, Any], *, is_new: bool = False) -> None:
        """`asked` has the options of a command. `is_new` says that all results are made now: then
        the record need not be read for a summary."""
        self.config = config
        self.folder = config.find_runs(asked["runs_dir"])
        self.reader = Reader(os.getcwd(), config, verbose=asked["verbose"])
        self._reports = _request_reports(asked["reports"])
        self._is_quiet, self._as_json = asked["quiet"], asked["as_json"]
        self._is_new = is_new
        self._streams = take_streams()
        self._scrubber = Scrubber({})

    @cached_property
    def view(self) -> RunView:
        """On standard error: standard output is for what came of it."""
        stream = self._streams.err
        screen = screen_for(stream)
        if self._is_quiet or self._as_json:
            return RunView(stream, screen.width if stream.isatty() else None)
        if not is_live(stream):
            log = LogView(stream)
            log.has_summary = _is_same_log(stream, self._streams.out)
            return log
        view = LiveView(stream, colour=screen.colour)
        for lent in self._streams.lent:
            lent.above = FileProxy(view.console, lent)
        return view

    def print(self, lines: Iterable[str]) -> None:
        try:
            print_lines(lines, self._streams.out)
            self._streams.out.flush()
        except OSError:
            discard_stream(self._streams.out)
            raise

    def request(self, options: RunOptions) -> RunRequest:
        """The run that a person asks for. From now on its secrets are kept, also by other code."""
        environment = this_environment()
        scrubber = make_scrubber(self.config, environment.variables, self.view.warn)
        self._scrubber = scrubber
        for stream in self._streams.lent:
            stream.scrub = scrubber.text
        return RunRequest(options, self.config, environment, self.folder, self._show, scrubber)

    def _show(self, event: Event) -> None:
        match event:
            case TrialStarted():
                self.view.started(event.trial)
            case TrialFinished():
                self.view.finished(event.result)
            case RunStarted():
                self.view.resumed(event.finished)
            case RunWarning():
                self.view.warn(event.text)
            case RunNote():
                self.view.tell(event.text)
            case LoopBlocked():
                self._exit_blocked(event)

    def _exit_blocked(self, event: LoopBlocked) -> None:
        """Exit while the event loop is blocked: nothing in Python can end the call that blocks it,
        and finished trials are on disk."""
        said = self._scrubber.text(f"{event.call} blocks all trials beyond its time limit")
        hint = "await what takes long, write a plain function, or use --processes"
        err = self._streams.err
        write_prose(f"evalcase: can't continue: {said}; {hint}", err)
        name = name_run(event.run, self.reader)
        write_prose(f"finished trials are kept: evalcase resume {name}", err)
        err.flush()
        os._exit(CRASH_CODE)

    def go_back(self, run: Run) -> None:
        """Go to where a run was started: the paths of its suites are seen from there."""
        try:
            os.chdir(os.path.join(self.config.root, run.about.cwd))
        except (OSError, ValueError):
            gone = f"was started in a folder that no longer exists: {run.about.cwd!r}"
            raise RecordError(f"{run.path} {gone}") from None

    def plan(self, request: RunRequest) -> Plan:
        """The plan of a run. The view is told how many trials it has."""
        with same_streams(), collector_paused(for_good=True):
            plan = prepare_plan(request)
        self.view.expect(plan.trials)
        return plan

    def execute(self, execution: Execution) -> int:
        plan = execution.plan
        concurrency = plan.options.concurrency or plan.config.concurrency
        allow_descriptors(_OWN_DESCRIPTORS + _DESCRIPTORS_OF_TRIAL * concurrency)
        try:
            self.view.begin()
            try:
                with same_streams():
                    evaluated = run_async(_until_interrupted(execution, self.view))
            finally:
                for lent in self._streams.lent:
                    if lent.above is not None:
                        lent.above.flush()
                        lent.above = None
                self.view.close()
        except (EvalcaseError, OSError, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - how far it came is in the record
            return self._conclude_broken(execution, error)
        known = self._is_new and evaluated.status != "failed"
        written = self.conclude(evaluated, self.view.highlights if known else None)
        if not evaluated.complete or evaluated.totals.trials.errored:
            why = why_unsealed(evaluated.run, plan.environment.state)
            if why:
                write_prose(f"{why}; so `evalcase resume` needs --trust")
        return first_code(evaluated.exit_code, written)

    def _conclude_broken(self, execution: Execution, error: BaseException) -> int:
        if isinstance(error, asyncio.CancelledError):
            error = RuntimeError("the run was cancelled by code of a target or a grader")
        elif isinstance(error, LoopEndedError):
            error = RuntimeError(str(error))  # where it was raised says nothing
        said = tell_crash(error, self._streams.err, execution.plan.scrubber.text)
        if execution.record is not None:
            with StoredRun(execution.record) as kept:
                self.conclude(replace(read_evaluated(kept), status="failed", notice=said))
        return CRASH_CODE

    def conclude(self, evaluated: Evaluated, highlights: Highlights | None = None) -> int:
        """Say what came of a run, and write the reports that are wanted: 0 if that could be done.
        Without highlights, the record is read for them."""
        with StoredRun(evaluated.run) as kept:
            if self._as_json:
                self.print([json.dumps(summary_object(evaluated))])
            else:
                self._print_summary(evaluated, highlights, kept)
            return self._write_reports(kept)

    def _print_summary(
        self, evaluated: Evaluated, highlights: Highlights | None, kept: StoredRun
    ) -> None:
        reader = self.reader._replace(screen=screen_for(self._streams.out))
        if highlights is None and not self._is_quiet:
            try:
                _, highlights, _ = Reported(kept, reader).read(TROUBLED)
            except RecordError:
                if evaluated.status != "failed":  # else it may be the record that failed
                    raise
        if self._is_quiet or highlights is None:
            lines = last_lines(evaluated, reader)
        else:
            lines = summary_lines(evaluated, highlights, kept, reader)
        self.print(defuse_lines(lines))

    def _write_reports(self, kept: StoredRun) -> int:
        """Write what was asked for; 0, or the exit code for what could not be written. What was run
        is kept all the same, and can be reported again."""
        code = 0
        for form, path in self._reports:
            try:
                write_file(form, Reported(kept, self.reader), path)
                if not self._is_quiet:
                    tell_written(seen_from(self.reader.cwd, path))
            except EvalcaseError as error:
                write_prose(f"evalcase: {error}")
                code = 3
        return code


def _is_same_log(one: TextIO, other: TextIO) -> bool:
    """Whether both end in the same file, as after `2>&1`; or both in pipes, as in CI, where a
    person reads them as one."""
    try:
        about = os.fstat(one.fileno()), os.fstat(other.fileno())
    except (OSError, ValueError):
        return False
    are_pipes = (stat.S_ISFIFO(each.st_mode) or stat.S_ISSOCK(each.st_mode) for each in about)
    return os.path.samestat(*about) or all(are_pipes)


def _request_reports(paths: Sequence[str]) -> list[tuple[str, str]]:
    """The form and the absolute path of each. Raise ConfigError for what can't be written, before
    anything is paid for."""
    requests = []
    for path in paths:
        form = form_of(path)
        require_form(form)
        folder = os.path.dirname(path) or "."
        if os.path.isdir(path) or not os.path.isdir(folder):
            why = "it is a folder" if os.path.isdir(path) else f"there is no folder {folder}"
            raise ConfigError(f"{path} can't be written: {why}")
        requests.append((form, os.path.abspath(path)))
    return requests


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
