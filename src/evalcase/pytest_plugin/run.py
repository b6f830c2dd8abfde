"""One run for a whole pytest session, in a thread: it runs all selected cases at once, while pytest
waits for the outcome of each item. Workers of pytest-xdist ask for outcomes over a connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Client, Connection, Listener
from secrets import token_hex
from threading import Lock, Thread
from typing import NamedTuple

from evalcase.api import prepare_evaluation
from evalcase.config.config import Config, name_settings
from evalcase.config.options import Keywords
from evalcase.errors import ConfigError, EvalcaseError
from evalcase.report.details import detail_lines, passed_of, reason_of
from evalcase.report.evaluated import CaseTrials, Evaluated
from evalcase.report.summary import last_lines
from evalcase.report.terminal import Reader, Screen
from evalcase.runner.event_loop import run_async
from evalcase.runner.run import Execution
from evalcase.types.case import Case
from evalcase.types.result import Folding, Result
from evalcase.util.secrets import Scrubber
from evalcase.util.text import make_visible, write_count


class EvalSettings(NamedTuple):
    """How evals are to be run."""

    config: Config
    """That of the project."""
    cwd: str
    """The folder that paths are relative to."""
    targets: tuple[str, ...]
    """They replace the targets that suites name."""
    keywords: Keywords


class CaseKey(NamedTuple):
    """A case at a target: an item of pytest."""

    suite: str
    """The path of the suite file, as the run is given it."""
    case: str
    target: str


class Outcome(NamedTuple):
    """The verdict of a case, in plain values that can be sent to another process."""

    verdict: str
    reason: str = ""
    """Why it is not passed, on one line."""
    text: str = ""
    """The reason with all details."""
    duration_s: float = 0.0
    """All of its trials together, as they were measured."""
    properties: tuple[tuple[str, str], ...] = ()


def describe_outcome(
    each: CaseTrials, case: Case | None, width: int, scrubber: Scrubber
) -> Outcome:
    """Describe the results of a case, without secrets."""
    values = {"target": each.target, "verdict": each.verdict}
    if each.outcome.repeats > 1:
        values["trials"] = f"{each.outcome.passed} of {each.outcome.repeats} passed"
    if each.score is not None:
        values["score"] = f"{each.score:.6g}"
    if each.cost_usd is not None:
        values["cost_usd"] = f"{each.cost_usd:.6g}"
    properties = tuple(values.items())
    if each.verdict == "passed":
        return Outcome("passed", "", "", each.duration_s, properties)
    trial = each.telling
    lines = [f"{each.verdict} at {make_visible(each.target)}"]
    reason = " ".join(make_visible(reason_of(trial)).split())
    if each.outcome.repeats > 1:
        lines = [f"{lines[0]}: {passed_of(each.outcome)}"]
        reason = f"{passed_of(each.outcome)}; {reason}"
    lines += detail_lines(trial, case, Screen(width))
    text = scrubber.text("\n".join(lines))
    return Outcome(each.verdict, scrubber.text(reason), text, each.duration_s, properties)


class NotRunError(Exception):
    """There is no result of a case, and this is why."""


class EndedBeforeError(NotRunError):
    """There is none because pytest needs no more."""


class BackgroundRun:
    """Starts with the first case that pytest waits for."""

    def __init__(self, settings: EvalSettings) -> None:
        self._settings = settings
        self.width = 80
        """The width of texts for people."""
        self._lock = Lock()
        self._outcomes: dict[CaseKey, Future[Outcome]] | None = None
        self._trials: dict[CaseKey, list[Result]] = {}
        self._folding: Folding[CaseKey] = Folding()
        self._execution: Execution | None = None
        self._cases: dict[tuple[str, str], Case] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._is_ending = False
        self._overlooked = 0
        """How many trials errored in cases that passed: no item reports them."""
        self.warnings: list[str] = []
        self.evaluated: Evaluated | None = None
        """The finished run."""

    def start(self, keys: Sequence[CaseKey], *, whole: bool) -> None:
        """Start the run of these cases, once; `whole` means that their suites have no others."""
        with self._lock:
            if self._outcomes is not None:
                return
            self._outcomes = {key: Future() for key in keys}
            try:
                execution = self._execution = self._prepare(keys, whole=whole)
            except EvalcaseError as error:
                self._give_up(str(error))
            except BaseException as error:
                self._give_up(f"{type(error).__name__}: {error}")
                raise
            else:
                run = partial(self._run, execution)
                self._thread = Thread(target=run, name="evalcase", daemon=True)
                self._thread.start()

    def wait(self, key: CaseKey) -> Outcome:
        """Wait for the outcome of a case. Raise NotRunError if it was not run."""
        assert self._outcomes is not None
        future = self._outcomes.get(key)
        if future is None:
            raise NotRunError("it was not among the cases when the run was started")
        return future.result()

    def end(self) -> None:
        """Wait for the end of the run. If pytest did not wait for all cases, interrupt it first."""
        if self._thread is not None:
            self.interrupt()
            self._thread.join()

    def interrupt(self) -> None:
        """Interrupt the run, unless all outcomes are known."""
        if self._outcomes is None or all(future.done() for future in self._outcomes.values()):
            return
        self._is_ending = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it may just have come to its end
                self._loop.call_soon_threadsafe(self._interrupt)

    def summary(self) -> Iterator[str]:
        """Warnings, how the run ended, and where its record is."""
        for warning in self.warnings:
            yield f"warning: {warning}"
        if self.evaluated is not None:
            reader = Reader(self._settings.cwd, self._settings.config, Screen(self.width))
            yield from last_lines(self.evaluated, reader)
        if (fault := self.find_problem()) is not None:
            yield f"not well: {fault}"

    def find_problem(self) -> str | None:
        """Why pytest must fail though no item does; None if it need not. The command exits with 3
        for the same reasons."""
        if self._thread is None or self._is_ending:
            return None  # each item reports it
        done = self.evaluated
        if done is None or not done.complete:
            return "the run is not complete"
        if not self._overlooked or done.exit_code != 3:
            return None
        errored = write_count(done.totals.trials.errored, "trial")
        return f"{errored} errored, and --evals-max-errors allows {done.max_errors:,}"

    def _prepare(self, keys: Sequence[CaseKey], *, whole: bool) -> Execution:
        settings = self._settings
        for key in keys:
            if not key.target:
                raise ConfigError(
                    f"case `{key.case}` names no target: say --evals-target NAME, or set `target` "
                    f"in {name_settings(settings.config.path)}"
                )
        paths = tuple(dict.fromkeys(key.suite for key in keys))
        keywords: Keywords = {
            **settings.keywords, "on_result": self._add, "on_warning": self.warnings.append
        }  # fmt: skip
        if not whole:
            keywords["cases"] = keys
        execution = prepare_evaluation(
            paths, settings.targets or None, root=settings.config.root, **keywords
        )
        chosen = execution.plan.selector.select(execution.plan.suites)
        self._cases = {(suite, case.id): case for suite, case in chosen}
        return execution

    def _run(self, execution: Execution) -> None:
        why = "the run has no result of it"
        try:
            self.evaluated = run_async(self._execute(execution))
            why = self.evaluated.notice or f"the run is {self.evaluated.status}"
        except BaseException as error:  # noqa: BLE001 - each case that has no result says it
            why = str(error) if isinstance(error, EvalcaseError) else repr(error)
            if not self._is_ending:
                self.warnings.append(f"the run broke: {why}")
        self._give_up(why)

    async def _execute(self, execution: Execution) -> Evaluated:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._is_ending:
            self._interrupt()
        return await execution.run()

    def _interrupt(self) -> None:
        """Cancel running trials. They have no result, and `evalcase resume` runs them."""
        engine = self._execution.engine if self._execution is not None else None
        if engine is not None:
            engine.interrupt()
            engine.cancel()
        elif self._task is not None:
            self._task.cancel()

    def _add(self, result: Result) -> None:
        """Take a result that is on disk, in the thread of the run."""
        key = CaseKey(*result.key[:3])
        self._trials.setdefault(key, []).append(result)
        outcome = self._folding.add(key, result.verdict, result.repeats, result.pass_rate)
        future = (self._outcomes or {}).get(key)
        if outcome.verdict is None or future is None or self._execution is None:
            return
        trials = sorted(self._trials.pop(key), key=lambda trial: trial.key.repeat)
        if outcome.verdict == "passed":
            self._overlooked += sum(each.verdict == "errored" for each in trials)
        case, scrubber = self._cases.get(key[:2]), self._execution.plan.scrubber
        done = CaseTrials(*key, outcome, tuple(trials))
        future.set_result(describe_outcome(done, case, self.width, scrubber))

    def _give_up(self, why: str) -> None:
        """Fail all items that still wait. The first gets the whole reason, the others one line."""
        kind, text = NotRunError, why
        if self._is_ending:
            kind, text = EndedBeforeError, "pytest was ended before"
        for future in (self._outcomes or {}).values():
            if not future.done():
                future.set_exception(kind(text))
                text = f"it was not run: {brief_of(why)}" if kind is NotRunError else text


def brief_of(why: str) -> str:
    """What is wrong, on one line: of several problems the first."""
    first, *others = why.strip().split("\n")
    return others[0].strip() if others and re.fullmatch(r"[0-9]+ errors?", first) else first


# With pytest-xdist, the process that started the workers runs all cases, and each worker asks it.

_HOST = "127.0.0.1"


class RunServer:
    """Answers workers of this machine that have its key."""

    def __init__(self, run: BackgroundRun) -> None:
        self._run = run
        key = token_hex(16)
        self._listener = Listener((_HOST, 0), authkey=key.encode())
        _, port = self._listener.address
        self.address = {"port": str(port), "key": key}
        Thread(target=self._accept, name="evalcase-workers", daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError, EOFError):  # it was closed
            while True:
                worker = self._listener.accept()
                Thread(target=self._serve, args=(worker,), daemon=True).start()

    def _serve(self, worker: Connection) -> None:
        with suppress(OSError, EOFError), worker:  # the worker has come to its end
            keys, whole = worker.recv()
            self._run.start(keys, whole=whole)
            while True:
                try:
                    worker.send(self._run.wait(worker.recv()))
                except NotRunError as error:
                    worker.send(error)


class RemoteRun:
    """The run, as a worker sees it."""

    width = 80

    def __init__(self, address: dict[str, str]) -> None:
        self._address = address
        self._connection: Connection | None = None

    def start(self, keys: Sequence[CaseKey], *, whole: bool) -> None:
        """Connect, and send the selected cases: they are the same for all workers."""
        if self._connection is None:
            try:
                address, key = (_HOST, int(self._address["port"])), self._address["key"]
                connection = Client(address, authkey=key.encode())
            except OSError as error:
                raise NotRunError(
                    "cases are run by the process that was started as pytest, and this worker "
                    f"can't reach it: {error}. Workers have to be on the same machine"
                ) from None
            connection.send((keys, whole))
            self._connection = connection

    def wait(self, key: CaseKey) -> Outcome:
        assert self._connection is not None
        try:
            self._connection.send(key)
            answer: Outcome | NotRunError = self._connection.recv()
        except (OSError, EOFError):
            raise NotRunError("the process that runs the cases has come to its end") from None
        if isinstance(answer, NotRunError):
            raise answer
        return answer

    def end(self) -> None:
        if self._connection is not None:
            self._connection.close()

    # The first process reports what is wrong, and prints the summary.

    def find_problem(self) -> None: ...

    def summary(self) -> Iterator[str]:
        return iter(())
