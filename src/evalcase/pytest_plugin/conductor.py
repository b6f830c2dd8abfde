"""One run for a whole session of pytest, in a thread of its own: all chosen cases at once, while
pytest goes through its items and waits for what came of each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread

from evalcase.api import prepare_evaluation
from evalcase.cli.conclusion import RecordPlace, last_lines
from evalcase.config.config import say_settings
from evalcase.config.options import Keywords
from evalcase.errors import ConfigError, EvalcaseError, SuiteError
from evalcase.pytest_plugin.settings import EvalSettings
from evalcase.pytest_plugin.told import CaseKey, ToldItem, tell_item
from evalcase.report.cases import CaseTrials
from evalcase.report.terminal.style import PLAIN
from evalcase.runner.evaluated import Evaluated
from evalcase.runner.event_loop import run_async
from evalcase.runner.run import Execution
from evalcase.types.case import Case
from evalcase.types.result import Folding, Result
from evalcase.util.text import write_count


class NotRunError(Exception):
    """There is no result of a case, and this is why: in full, and on one line."""

    def __init__(self, text: str, brief: str = "") -> None:
        super().__init__(text)
        self.brief = brief or text.strip().partition("\n")[0]


class EndedBeforeError(NotRunError):
    """There is none because pytest needs no more."""


class Conductor:
    """Begins the run when the first case is asked for, and hands out what comes of each."""

    def __init__(self, settings: EvalSettings) -> None:
        self._settings = settings
        self.width = 80
        """Of what is told to people."""
        self._lock = Lock()
        self._told: dict[CaseKey, Future[ToldItem]] | None = None
        self._trials: dict[CaseKey, list[Result]] = {}
        self._folding: Folding[CaseKey] = Folding()
        self._execution: Execution | None = None
        self._cases: dict[tuple[str, str], Case] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._is_ending = False
        self._overlooked = 0
        """Trials that errored in cases which passed anyway: no item tells of them."""
        self.warnings: list[str] = []
        self.evaluated: Evaluated | None = None
        """What came of the run, once it is over."""

    def begin(self, keys: Sequence[CaseKey], *, whole: bool) -> None:
        """Begin with these cases, once; `whole` says that they are all that their suites have."""
        with self._lock:
            if self._told is None:
                self._told = {key: Future() for key in keys}
                try:
                    self._start(self._prepare(keys, whole=whole))
                except EvalcaseError as error:
                    self._give_up(str(error), _write_brief(error))
                except BaseException as error:
                    self._give_up(f"{type(error).__name__}: {error}")
                    raise

    def wait(self, key: CaseKey) -> ToldItem:
        """What came of a case, as soon as it is known. Raise NotRunError if it was not run."""
        assert self._told is not None
        future = self._told.get(key)
        if future is None:
            raise NotRunError("it was not among the cases when the run was started")
        return future.result()

    def end(self) -> None:
        """Wait for the end of the run; where pytest didn't wait for all cases, it is ended now."""
        if self._thread is not None:
            self.interrupt()
            self._thread.join()

    def interrupt(self) -> None:
        """End the run, unless pytest knows of all cases what came of them."""
        if self._told is None or all(future.done() for future in self._told.values()):
            return
        self._is_ending = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it may just have come to its end
                self._loop.call_soon_threadsafe(self._interrupt)

    def summary(self) -> Iterator[str]:
        """How it ended, where its record is, and what was to be said on the way."""
        for warning in self.warnings:
            yield f"warning: {warning}"
        if self.evaluated is not None:
            place = RecordPlace(self._settings.cwd, self._settings.config)
            yield from last_lines(self.evaluated, place, self.width, PLAIN)
        if (fault := self.find_fault()) is not None:
            yield f"not well: {fault}"

    def find_fault(self) -> str | None:
        """Why not all is well though no item says so, once the run is over; None if all is. The
        command exits with 3 for the same."""
        if self._thread is None or self._is_ending:
            return None  # each item says it, or nobody wants to know
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
                    f"in {say_settings(settings.config.path)}"
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
        plan = execution.plan
        chosen = plan.selector.select(plan.suites)
        self._cases = {(suite, case.id): case for suite, case in chosen}
        return execution

    def _start(self, execution: Execution) -> None:
        self._execution = execution
        self._thread = Thread(target=self._go, args=(execution,), name="evalcase", daemon=True)
        self._thread.start()

    def _go(self, execution: Execution) -> None:
        why = "the run has no result of it"
        try:
            self.evaluated = run_async(self._run(execution))
            why = self.evaluated.notice or f"the run is {self.evaluated.status}"
        except BaseException as error:  # noqa: BLE001 - each case that has no result says it
            why = str(error) if isinstance(error, EvalcaseError) else repr(error)
            if not self._is_ending:
                self.warnings.append(f"the run broke: {why}")
        self._give_up(why)

    async def _run(self, execution: Execution) -> Evaluated:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._is_ending:
            self._interrupt()
        return await execution.run()

    def _interrupt(self) -> None:
        """End what is under way. It has no result, and `evalcase resume` goes on with it."""
        engine = self._execution.engine if self._execution is not None else None
        if engine is not None:
            engine.interrupt()
            engine.cancel()
        elif self._task is not None:
            self._task.cancel()

    def _add(self, result: Result) -> None:
        """Take a result that is on disk. This is the thread of the run."""
        key = CaseKey(*result.key[:3])
        self._trials.setdefault(key, []).append(result)
        outcome = self._folding.add(key, result.verdict, result.repeats, result.pass_rate)
        future = (self._told or {}).get(key)
        if outcome.verdict is None or future is None or self._execution is None:
            return
        trials = sorted(self._trials.pop(key), key=lambda trial: trial.key.repeat)
        if outcome.verdict == "passed":
            self._overlooked += sum(each.verdict == "errored" for each in trials)
        case, scrubber = self._cases.get(key[:2]), self._execution.plan.scrubber
        future.set_result(tell_item(CaseTrials(outcome, tuple(trials)), case, self.width, scrubber))

    def _give_up(self, why: str, brief: str = "") -> None:
        """Nobody need wait any longer. The first who does is told all of it."""
        kind, text = NotRunError, why
        if self._is_ending:
            kind, text, brief = EndedBeforeError, "pytest was ended before", ""
        for future in (self._told or {}).values():
            if not future.done():
                error = kind(text, brief)
                future.set_exception(error)
                if text == why:
                    text, brief = f"it was not run: {error.brief}", ""


def _write_brief(error: EvalcaseError) -> str:
    """What is wrong, on one line: of several problems the first."""
    problems = error.problems if isinstance(error, ConfigError | SuiteError) else ()
    return next((str(each) for each in problems if each.severity == "error"), "")
