"""A run from beginning to end: check, plan, ask, grade, record; and the same again to resume it."""

from __future__ import annotations

import asyncio
import os
import platform
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from random import random

from evalcase import __version__
from evalcase.errors import ConfigError, RecordError, SuiteError, TargetError
from evalcase.grade.apply import grade_answer
from evalcase.grade.score import decide_case_verdict
from evalcase.model.case import Case
from evalcase.model.failure import Failure
from evalcase.model.finding import Unfit
from evalcase.model.grader import Context
from evalcase.model.question import Question
from evalcase.model.result import Result, Verdict
from evalcase.model.trial import Trial, TrialKey
from evalcase.plugins.cache import FOLDER as CACHE_FOLDER
from evalcase.plugins.cache import AnswerStore, cached
from evalcase.plugins.make import bounds_of, graders_of, key_names, make_target
from evalcase.project.config import Config
from evalcase.project.env_file import read_env_file, set_missing
from evalcase.project.options import Request
from evalcase.record.cap import TooLargeError, cap_answer
from evalcase.record.commit import JournalFailure
from evalcase.record.evaluated import Evaluated, Status
from evalcase.record.folder import Run, create_run
from evalcase.record.journal import Journal, open_journal
from evalcase.record.keep import Keeper, rows_ahead
from evalcase.record.reader import finished, read_results, totals
from evalcase.run.attempt import Target, ask
from evalcase.run.case_hash import hash_case
from evalcase.run.limits import Limits
from evalcase.run.pace import Pace
from evalcase.run.plan import plan_trials, times_of
from evalcase.run.schedule import Engine, Watcher
from evalcase.suites.collection import Suites
from evalcase.system.attachments import find_attachments
from evalcase.system.digests import FileDigests
from evalcase.system.imports import make_importable
from evalcase.system.timer import Timer
from evalcase.targets.chat.prices import prices_version
from evalcase.text.secrets import Scrubber

MAX_ANSWER_BYTES = 10_000_000
"""How much of each text of an answer is kept; a longer one is cut, and marked as such."""


def runs_folder(given: str | None, config: Config) -> str:
    """Where the records of a project are kept."""
    if given is not None:
        return os.path.abspath(given)  # a target may go elsewhere
    return os.path.join(config.root, config.runs_dir or os.path.join(".evalcase", "runs"))


class Evaluation:
    """A run that is ready to go: everything that can be wrong before it starts has been checked."""

    def __init__(
        self,
        request: Request,
        config: Config,
        watcher: Watcher,
        warn: Callable[[str], None],
        given: Mapping[str, Target] | None = None,
    ) -> None:
        """`given` has targets that exist already, by their names."""
        self.request = request
        self.config = config
        self.watcher = watcher
        if request.env_file is not None:
            set_missing(os.environ, read_env_file(request.env_file))
        self.scrubber = Scrubber(_values(key_names(config, ())))
        self.warn = _once(lambda text: warn(self.scrubber.text(text)))
        if not request.no_exec:
            # A project's own modules are importable, as they are for its tests.
            make_importable(config.root)
        self.suites = Suites(request.paths)
        self.trials: dict[str, int] = {}
        self.shares: dict[tuple[str, str], float] = {}
        """The pass rate of the cases of which not every trial must pass."""
        self._survey()
        self.targets = {name: self._make(name, given or {}) for name in self.trials}
        secrets = _values(key_names(config, self.targets.values()))
        self.scrubber = Scrubber(secrets)
        self.secret = bool(secrets)
        if config.cache if request.cache is None else request.cache:
            folder = os.path.join(config.root, CACHE_FOLDER)
            store = AnswerStore(folder, self.scrubber, self.warn)
            self.targets = {name: cached(name, each, store) for name, each in self.targets.items()}
        self.engine: Engine | None = None
        self._files = FileDigests()
        self._broken: Exception | None = None
        self.known = 0
        """How many of the planned trials had been finished before."""

    @property
    def planned(self) -> int:
        """How many trials there are in all."""
        return sum(self.trials.values())

    def _survey(self) -> None:
        """Check every case, count the trials of each target, and make every grader once."""
        checked = self.suites.check()
        fault: ConfigError | None = None
        try:
            for suite, case in self.request.selection.select(checked):
                self._survey_case(suite, case)
        except ConfigError as error:
            fault = error
        # Whatever else is wrong: an invalid suite is what to hear of first.
        deque(checked, maxlen=0)
        if fault is not None:
            raise fault
        if not self.trials:
            raise ConfigError("no case is left to run: look at --case, --tag, --shard and --limit")
        if self.suites.warnings:
            count = self.suites.warnings
            noun = "warning" if count == 1 else "warnings"
            self.warn(f"the suites have {count} {noun}, which `evalcase check` shows")

    def _survey_case(self, suite: str, case: Case) -> None:
        self._check_graders(suite, case)
        if case.pass_rate < 1:
            self.shares[suite, case.id] = case.pass_rate
        names = self.request.targets or case.targets or _default(self.config, case)
        names = tuple(dict.fromkeys(names))
        for name in names:
            times = times_of(case, self.request.repeat)
            self.trials[name] = self.trials.get(name, 0) + times

    def _make(self, name: str, given: Mapping[str, Target]) -> Target:
        if name in given:
            return given[name]
        of_suite = not self.request.targets and name != self.config.target
        no_exec = self.request.no_exec
        return make_target(name, self.config, self.warn, no_exec=no_exec, of_suite=of_suite)

    def _check_graders(self, suite: str, case: Case) -> None:
        """Find out now, and not after the first answers, that a grader can't be used."""
        try:
            for named in graders_of(case):
                if named.grader.kind.runs_code and self.request.no_exec:
                    raise ConfigError(f"grader `{named.name}` would run code (--no-exec)")
                named.grader.load()
        except ConfigError as error:
            raise ConfigError(f"{suite}: case `{case.id}`: {error}") from error

    def _cases(self) -> Iterator[tuple[str, Case]]:
        return self.request.selection.select(self.suites)

    def _unless_changed(self) -> Iterator[tuple[str, Case]]:
        try:
            yield from self._cases()
        except SuiteError as error:
            if self.engine is None:
                raise
            self.engine.stop(f"a suite was changed while it was run: {error.problems[0]}")

    def _start(self, runs_dir: str) -> Run:
        """Make the run's folder, with everything that is needed to resume it."""
        about = {
            "evalcase": __version__,
            "python": platform.python_version(),
            "prices": prices_version(),
            "request": self.request.to_dict(),
            "suites": self.suites.hashes(),
            "targets": sorted(self.trials),
            "target_hashes": self._target_hashes(),
            "default_target": self.config.target,
            "trials": self.planned,
            "cwd": os.path.relpath(os.getcwd(), self.config.root),
        }
        return create_run(
            runs_dir, about, now=datetime.now(UTC), random=os.urandom, scrubber=self.scrubber
        )

    def _target_hashes(self) -> dict[str, str]:
        """What the configuration says of each target, as a hash: it may say what is secret."""
        told = {name: self.config.targets.get(name) for name in sorted(self.trials)}
        return {
            name: sha256(repr(options).encode("utf-8", "backslashreplace")).hexdigest()[:16]
            for name, options in told.items()
        }

    def _compare(self, run: Run) -> None:
        """Say which targets are not what they were when the run began."""
        before = run.about.get("target_hashes")
        for name, now in self._target_hashes().items():
            if isinstance(before, dict) and before.get(self.scrubber.text(name), now) != now:
                self.warn(f"target `{name}` is configured otherwise than when the run was begun")

    async def go(
        self, runs_dir: str, run: Run | None = None, again: tuple[str, ...] = ()
    ) -> Evaluated:
        """Run what is not finished of a run, or a new one in `runs_dir`.

        A trial whose verdict is in `again` counts as not finished. The folder of a new run is made
        once all targets are open, so that a name that can't be resolved leaves none behind.
        """
        async with AsyncExitStack() as stack:
            for target in self.targets.values():
                stack.push_async_callback(self._close, target)
                await self._open(target)
            if run is not None:
                self._compare(run)
            return await self._record(run or self._start(runs_dir), again)

    async def _open(self, target: Target) -> None:
        try:
            await target.open()
        except (ConfigError, TargetError) as error:
            # What keeps a target from opening is printed, and may have a key in it.
            raise type(error)(self.scrubber.text(str(error))) from error
        except Exception as error:
            what = self.scrubber.text(f"{type(error).__name__}: {error}")
            raise TargetError(f"a target could not be set up: {what}") from error

    async def _close(self, target: Target) -> None:
        try:
            await target.close()
        except Exception as error:  # noqa: BLE001 - the answers are safe already
            self.warn(f"a target could not be closed: {type(error).__name__}: {error}")

    async def _record(self, run: Run, again: tuple[str, ...]) -> Evaluated:
        loop = asyncio.get_running_loop()
        failed: list[JournalFailure] = []

        def deliver(dones: list[Callable[[], None]]) -> None:
            loop.call_soon_threadsafe(self._show, dones)

        def journal_failed(failure: JournalFailure) -> None:
            failed.append(failure)
            loop.call_soon_threadsafe(self._engine_cancel)

        journal = open_journal(
            run.journal, scrubber=self.scrubber, deliver=deliver, on_failure=journal_failed
        )
        try:
            status, notice = await self._run(journal, run, again)
            with suppress(RecordError):  # it is raised once more when the journal is closed
                journal.append({"type": "end", "status": status}, lambda: None)
        finally:
            try:
                journal.close()
            except RecordError:
                status = "failed"
        await asyncio.sleep(0)  # what is on disk by now is to be shown, too
        if self._broken is not None:
            raise self._broken
        if failed:
            status, notice = "failed", str(failed[0])
        fast = self.engine is not None and self.engine.failed_fast and status == "stopped"
        return Evaluated(run, status, totals(run.journal), notice, self._forgiven(run), fast)

    def _show(self, dones: list[Callable[[], None]]) -> None:
        """Tell of results that are on disk. If whoever is told breaks, the run stops, and says so
        when all that is under way has been kept."""
        for done in dones:
            try:
                done()
            except Exception as error:  # noqa: BLE001 - a watcher may be the user's own code
                self._broken = self._broken or error
        if self._broken is not None and self.engine is not None:
            self.engine.stop(f"{type(self._broken).__name__} while a result was shown")

    def _forgiven(self, run: Run) -> int:
        if not self.shares:
            return 0
        verdicts: dict[tuple[str, str, str], list[Verdict]] = {}
        for result in read_results(run.journal):
            suite, case, target, _ = result.key
            if (suite, case) in self.shares:
                verdicts.setdefault((suite, case, target), []).append(result.verdict)
        return sum(
            several.count("failed")
            for (suite, case, _), several in verdicts.items()
            if decide_case_verdict(several, self.shares[suite, case]) == "passed"
        )

    async def _run(
        self, journal: Journal, run: Run, again: tuple[str, ...]
    ) -> tuple[Status, str | None]:
        done = finished(run.journal)
        # No more workers than there is work, and no more than a target says it can take.
        per_target = {
            name: min([count, *bounds_of(name, self.targets[name], self.config)])
            for name, count in self.trials.items()
        }
        limits = self.request.limits(self.config, per_target)
        ahead, scrubber = rows_ahead(limits.concurrency), self.scrubber if self.secret else None
        keep = Keeper(journal, self.watcher.finished, ahead, scrubber).keep
        paces = {name: Pace(limits.of_target(name)) for name in self.targets}
        self.timer = Timer()
        engine = self.engine = Engine(limits, partial(self._try, limits, paces), keep, self.watcher)
        work = {
            name: (target, self._open_trials(name, done, again))
            for name, target in self.targets.items()
        }
        engine.spend(totals(run.journal).spent_usd or 0.0)
        await engine.run(work)
        if len(done) > self.known:
            gone = len(done) - self.known
            self.warn(f"{gone} finished trials are no longer part of the suites; they still count")
        if engine.interrupted:
            return "interrupted", None
        return ("completed" if engine.stop_reason is None else "stopped"), engine.stop_reason

    def _engine_cancel(self) -> None:
        if self.engine is not None:
            self.engine.cancel()

    def _hash(self, trial: Trial) -> str:
        if not trial.case.has_parts:
            return hash_case(trial.case, None)
        found = find_attachments(trial.suite, trial.case.input)
        # One that was replaced since the check: whoever opens it will say so.
        files = {found.code: found.message} if isinstance(found, Unfit) else self._files.of(found)
        return hash_case(trial.case, files)

    def trials_of(self, name: str) -> Iterator[Trial]:
        """Every trial of a target, whether it is finished or not."""
        named = bool(self.request.targets)
        cases = self._unless_changed()
        return plan_trials(cases, name, self.config.target, self.request.repeat, named)

    def _open_trials(
        self, name: str, done: Mapping[TrialKey, tuple[Verdict, str]], again: tuple[str, ...]
    ) -> Iterator[Trial]:
        for trial in self.trials_of(name):
            known = done.get(self.scrubber.key(trial.key))
            self.known += known is not None
            if known is not None and known[0] == "skipped" and not trial.case.skip:
                self.warn(f"case {trial.case.id} is no longer skipped")
            elif known is not None and known[1] != self._hash(trial):
                self.warn(f"case {trial.case.id} was changed since it was run: it is run again")
            elif known is not None and known[0] not in again:
                continue
            yield trial

    def _scrubbed(self, failure: Failure) -> Failure:
        if not self.secret:
            return failure
        message: str = self.scrubber.torn(failure.message)
        return Failure(failure.kind, message, self.scrubber.torn(failure.details))

    async def _try(
        self, limits: Limits, paces: Mapping[str, Pace], target: Target, trial: Trial
    ) -> Result:
        case_hash = self._hash(trial)
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        if trial.case.skip:
            reason = trial.case.skip if isinstance(trial.case.skip, str) else "skipped"
            why = Failure("stopped", reason)
            return Result(trial.key, case_hash, "skipped", None, (), why, 0, started, 0.0)
        assert self.engine is not None
        pace = paces[trial.target]
        outcome = await ask(target, trial, limits, pace, self.engine, random)
        if outcome.interrupted and self.engine.interrupted:
            raise asyncio.CancelledError  # it has no result, and is run again by `resume`
        retried = tuple(map(self._scrubbed, outcome.retried))
        rest = outcome.attempts, started, round(outcome.duration_s, 6), retried
        if outcome.answer is None:
            failure = self._scrubbed(outcome.failure) if outcome.failure else None
            return Result(trial.key, case_hash, "errored", None, (), failure, *rest)
        try:
            answer = cap_answer(outcome.answer, MAX_ANSWER_BYTES)
        except TooLargeError as error:
            why = Failure("protocol", str(error), {"output": error.excerpt})
            return Result(trial.key, case_hash, "errored", None, (), self._scrubbed(why), *rest)
        if limits.max_cost_usd is not None and answer.cost_usd is None:
            self.warn(f"answers of `{trial.target}` come without a cost: --max-cost can't hold")
        context = Context(trial.case, Question(trial.case.input, trial.case.id), answer)
        verdict, grades = await grade_answer(context, graders_of(trial.case), self.timer)
        return Result(trial.key, case_hash, verdict, answer, grades, None, *rest)


def _once(warn: Callable[[str], None]) -> Callable[[str], None]:
    """Say the same thing once in a run, however many trials it is true of."""
    said: set[str] = set()

    def say(text: str) -> None:
        if text not in said:
            said.add(text)
            warn(text)

    return say


def _default(config: Config, case: Case) -> tuple[str, ...]:
    if config.target is None:
        raise ConfigError(
            f"case `{case.id}` names no target: say --target NAME, or set `target` in evalcase.toml"
        )
    return (config.target,)


def _values(names: Iterable[str]) -> dict[str, str]:
    """The values of environment variables that have any."""
    found = {name: os.environ.get(name, "") for name in names}
    return {name: value for name, value in found.items() if value}
