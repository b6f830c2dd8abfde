"""A run from plan to conclusion: open targets and record; ask, grade and record each trial that is
left; conclude. The file to read first.

A plan (`plan.py`) holds everything that a run needs. `Engine` runs many trials at once, `Trials`
makes one result, `Dispatcher` asks targets, `Pending` says which trials are left. The run tells its
listeners what happens by events.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from itertools import chain, islice
from random import random
from typing import TYPE_CHECKING

from evalcase import __version__
from evalcase.config.targets import bounds_of, kind_of
from evalcase.errors import ConfigError, RecordError
from evalcase.report.evaluated import Evaluated, hold_to_gates, make_evaluated
from evalcase.runner.calls import CLOSE_S, OpenTargets
from evalcase.runner.dispatch import Dispatcher, Executor
from evalcase.runner.event_loop import LoopWatch
from evalcase.runner.events import LoopBlocked, RunFinished, RunStarted, TrialFinished, TrialStarted
from evalcase.runner.pacing import Budget, Limits
from evalcase.runner.plan import (
    Plan,
    RunRequest,
    errors_without_secrets,
    refuse_secret_names,
    watch_keys,
)
from evalcase.runner.resume import Pending, find_versions
from evalcase.runner.schedule import Engine
from evalcase.runner.trials import Trials
from evalcase.store.folder import (
    GitState,
    Run,
    RunAbout,
    SelectedCases,
    create_run,
    find_sealer,
    read_git_state,
    read_run,
)
from evalcase.store.index import Index
from evalcase.store.journal import Journal, RunWriter, open_journal, rows_ahead
from evalcase.store.rows import Basis, End
from evalcase.store.stored import StoredRun, basis_of_run
from evalcase.targets.usage import prices_version
from evalcase.types.result import Result, Totals, Trial
from evalcase.types.target import kind_of_targets
from evalcase.types.value import replace
from evalcase.util.environment import monotonic, wall_time
from evalcase.util.user_calls import UserCalls

if TYPE_CHECKING:
    from evalcase.runner.event_loop import BlockingCall
    from evalcase.runner.regrade import By, Regrading
    from evalcase.runner.stopping import FailFast, Stopping
    from evalcase.runner.workspaces import Workspaces
    from evalcase.store.cache import AnswerCache


class Execution:
    """One run of a plan. With `regrade`, stored answers are graded, and no target is asked."""

    def __init__(
        self, request: RunRequest, plan: Plan, executor: Executor | None = None,
        regrade: By | None = None,
    ) -> None:  # fmt: skip
        """Targets answer in `executor`, or in this process. Raise ConfigError where `--stop` has
        nothing to decide by."""
        self.plan = plan if executor is None else plan.moved_to(executor)
        self.engine: Engine | None = None
        """Runs the trials, once targets and record are open."""
        self.record: Run | None = None
        self._request = request
        self._executor = executor
        self._regrade = regrade
        self._is_new = request.run is None
        self._stopping: Stopping | None = None
        self._fail_fast: FailFast | None = None
        if self._is_new and plan.options.stop is not None:
            from evalcase.runner.stopping import make_stopping  # with statistics that few runs need

            self._stopping = make_stopping(plan, request.folder)
        self._broken_listener: BaseException | None = None
        self._journal_failure: RecordError | None = None
        self._workspaces: Workspaces | None = None

    async def run(self) -> Evaluated:
        """Run the trials that are left. Raise ConfigError or TargetError if a target can't be
        opened, RecordError if nothing can be recorded, and what a listener raised."""
        plan, request = self.plan, self._request
        with errors_without_secrets(plan.scrubber):
            if self._is_new:
                refuse_secret_names(plan.trials, plan.scrubber)
            async with AsyncExitStack() as stack:
                calls = await stack.enter_async_context(UserCalls())
                if self._executor is not None:
                    await stack.enter_async_context(self._executor)
                targets = await stack.enter_async_context(self._open_targets(calls))
                # A target that can't be opened leaves no record behind.
                record = self.record = request.run or self._create_record()
                stack.push_async_callback(self._close_graders, calls)
                stack.push_async_callback(calls.settle)
                if plan.has_workspaces:
                    self._workspaces = self._open_workspaces(record)
                    stack.push_async_callback(self._workspaces.close)

                def tell_blocked(call: BlockingCall) -> None:
                    request.emit(LoopBlocked(record, call))

                with LoopWatch(plan.warn, calls.is_overdue, tell_blocked):
                    return await self._run_recorded(record, targets, calls)

    async def _run_recorded(self, record: Run, targets: OpenTargets, calls: UserCalls) -> Evaluated:
        began, index = monotonic(), Index()
        journal = self._open_journal(record, index)
        # None where an earlier session was killed.
        before_s = index.end.duration_s if journal.rows else 0.0
        try:
            self._request.emit(RunStarted(record, index.count_finished(self._request.again)))
            work = await self._run_trials(record, journal, index, targets, calls)
            end = self._find_end(work)
            if before_s is not None:
                end = replace(end, duration_s=round(before_s + monotonic() - began, 3))
            self._append_end(journal, record, index, end)
        finally:
            self._close_journal(journal, record)
        await asyncio.sleep(0)  # results that are on disk by now are told, too
        if self._broken_listener is not None:
            raise self._broken_listener
        evaluated = self._conclude(record, work, end)
        self._request.emit(RunFinished(evaluated))
        return evaluated

    async def _run_trials(
        self, record: Run, journal: Journal, index: Index, targets: OpenTargets, calls: UserCalls
    ) -> Pending | Regrading:
        """Ask, grade and record every trial that is left."""
        plan, emit = self.plan, self._request.emit
        # No more workers than trials, and no more than a target can take.
        per_target = {
            name: min([count, *bounds_of(name, plan.targets[name], plan.config)])
            for name, count in plan.trials.items()
        }
        limits = Limits.of(plan.options, plan.config, per_target)
        engine = self.engine = Engine(limits, targets.context)
        tally = index.tally()
        self._budget = Budget(plan.options.max_cost_usd, tally.totals().spent_usd or 0.0)
        writer = RunWriter(
            journal, tally, self._tell_finished, rows_ahead(limits.concurrency),
            replaces=len(index) > 0,
        )  # fmt: skip
        dispatcher = Dispatcher(
            targets, limits, engine, self._budget, calls, random, warn=plan.warn,
            cache=self._open_cache(), executor=self._executor, workspaces=self._workspaces,
        )  # fmt: skip
        trials = Trials(
            plan, engine, dispatcher, calls, record.id, writer.lose, self._executor,
            self._workspaces,
        )  # fmt: skip
        work: Pending | Regrading
        if self._regrade is not None:
            work = self._regrade.begin(plan, record, index, trials, writer)
        else:
            ordered = None if self._stopping is None else self._stopping.ordered
            work = Pending(
                plan, record, index, trials, writer, self._request.again, ordered,
                is_new=self._is_new,
            )  # fmt: skip
        if plan.options.fail_fast:
            from evalcase.runner.stopping import FailFast  # with statistics that few runs need

            self._fail_fast = FailFast(index, plan.options.max_errors, self._request.again)
        rules = [rule for rule in (self._fail_fast, self._stopping) if rule is not None]

        async def one(trial: Trial) -> None:
            emit(TrialStarted(trial))
            result = await work.find_result(trial)
            await work.store(trial, result)  # `TrialFinished` comes once it is on disk
            for rule in rules:
                if (reason := rule.after(result)) is not None:
                    engine.stop(reason)

        left = {name: work.left(name, engine) for name in plan.trials}
        first = {name: list(islice(some, 1)) for name, some in left.items()}
        if any(first.values()):
            # Set-up may block the event loop, by which other trials are timed.
            await targets.open_all(plan.judges)
        is_batched = any(each.traits.batching is not None for each in plan.targets.values())
        if is_batched and isinstance(work, Pending):
            from evalcase.runner.batches import send_batches  # it needs aiohttp

            await send_batches(plan, record.id, work, writer, trials, engine)
        await engine.run({name: chain(first[name], left[name]) for name in left}, one)
        return work

    def _tell_finished(self, result: Result) -> None:
        """A listener that raises stops the run; what it raised is raised when all is recorded."""
        try:
            self._request.emit(TrialFinished(result))
        except BaseException as error:  # noqa: BLE001 - a listener may be user code
            self._broken_listener = self._broken_listener or error
            assert self.engine is not None
            self.engine.stop(f"{type(error).__name__} while a result was shown")

    def _find_end(self, work: Pending | Regrading) -> End:
        assert self.engine is not None
        end, scrub = work.find_end(self.engine), self.plan.scrubber.text
        notice = None if end.notice is None else scrub(end.notice)
        if end.status != "stopped":
            return replace(end, notice=notice)
        decision = None
        if (stopping := self._stopping) is not None and stopping.decision is not None:
            is_reason, ended = notice == scrub(str(stopping.decision)), stopping.conclude()
            notice, decision = scrub(ended) if is_reason else notice, stopping.decision
        return replace(
            end, notice=notice, decision=decision,
            failed_fast=self._fail_fast is not None and self._fail_fast.has_failed,
            cap_usd=self._budget.cap_usd if self._budget.is_spent else None,
        )  # fmt: skip

    def _conclude(self, record: Run, work: Pending | Regrading, end: End) -> Evaluated:
        totals, graded_by = work.totals(), None
        if self._journal_failure is not None:
            end = End("failed", str(self._journal_failure), duration_s=end.duration_s)
            totals = None
        if totals is None or work.grading > 1:
            with StoredRun(record) as stored:
                if totals is None:
                    totals = Totals()
                    with suppress(RecordError):  # it may be the record that failed
                        totals = stored.totals
                if work.grading > 1 and end.status != "failed":
                    graded_by = stored.graded_by
        evaluated = make_evaluated(record, end, totals, work.mixed(), graded_by)
        return hold_to_gates(evaluated, self.plan.options)

    # Targets and graders

    def _open_targets(self, calls: UserCalls) -> OpenTargets:
        """A resumed run opens its judges only if a trial is left."""
        plan = self.plan
        is_resumed = not self._is_new and self._regrade is None
        targets = {**plan.targets, **plan.users, **({} if is_resumed else plan.judges)}
        opened = partial(watch_keys, plan.scrubber)
        return OpenTargets(targets, plan.make, plan.warn, opened, calls, plan.explain_unopened)

    async def _close_graders(self, calls: UserCalls) -> None:
        outcome = await calls.run(self.plan.graders.close, CLOSE_S, "close")
        if outcome.is_late or outcome.error is not None:
            late = f"took more than {CLOSE_S:g} s"
            what = late if outcome.is_late else f"failed: {outcome.error}"
            self.plan.warn(f"tear-down of the graders {what}")

    def _open_workspaces(self, record: Run) -> Workspaces:
        from evalcase.runner.workspaces import Workspaces  # which few suites have

        plan = self.plan
        opened = Workspaces(
            record.path, plan.config, plan.environment, plan.scrubber, plan.warn,
            solves=plan.oracle is not None,
        )  # fmt: skip
        if plan.oracle is not None:
            plan.oracle.solve_by(opened.solve)
        return opened

    def _open_cache(self) -> AnswerCache | None:
        plan = self.plan
        if not plan.options.caches(plan.config.cache):
            return None
        from evalcase.store.cache import CACHE_FOLDER, AnswerCache  # with --cache only

        folder = os.path.join(plan.config.root, CACHE_FOLDER)
        return AnswerCache(folder, plan.scrubber, plan.warn)

    # The record

    def _create_record(self) -> Run:
        plan, environment = self.plan, self.plan.environment
        sealer = find_sealer(environment.state, plan.config.root, make=True)
        return create_run(
            self._request.folder, _describe_plan(plan), now=wall_time(),
            sealer=sealer,
        )  # fmt: skip

    def _open_journal(self, record: Run, index: Index) -> Journal:
        loop = asyncio.get_running_loop()

        def acknowledge(dones: list[Callable[[], None]]) -> None:
            for done in dones:
                done()

        def deliver(dones: list[Callable[[], None]]) -> None:
            loop.call_soon_threadsafe(acknowledge, dones)

        def fail(failure: RecordError) -> None:
            self._journal_failure = failure
            if self.engine is not None:
                loop.call_soon_threadsafe(self.engine.cancel)

        journal = open_journal(
            record.journal, scrubber=self.plan.scrubber, deliver=deliver, on_failure=fail,
            read=index.read,
        )  # fmt: skip
        if (cut := journal.cut) is not None:
            self.plan.warn(
                f"the last line of {record.journal}, {cut}, was half written when the run "
                "ended: it is dropped, and its trial is run again"
            )
        return journal

    def _append_end(self, journal: Journal, record: Run, index: Index, end: End) -> None:
        is_whole = end.status == "completed" or end.graded is not None
        with suppress(RecordError):  # it is raised once more when the journal is closed
            if is_whole and not self._is_new:
                basis = _describe_basis(self.plan)
                if self._regrade is not None and self._regrade.row.recorded:
                    basis = self._regrade.keep_cases(basis, record)
                if basis != (index.basis or basis_of_run(record)):
                    journal.append(basis)
            journal.append(end)

    def _close_journal(self, journal: Journal, record: Run) -> None:
        try:
            journal.close()
            read_run(record.path)  # an agent that clears up its folder may have removed it
        except RecordError as error:
            self._journal_failure = self._journal_failure or error


def _describe_plan(plan: Plan) -> RunAbout:
    """What `run.json` says: enough to resume the run, and to see later what has changed."""

    def is_priced(name: str) -> bool:
        if name in plan.given_targets:
            kind = kind_of_targets(plan.askable(name))
            return kind is not None and kind.priced
        with suppress(ConfigError):
            return kind_of(name, plan.config).priced
        return False

    basis, options, scrub = _describe_basis(plan), plan.options, plan.scrubber.text
    failed_of = options.selection.failed_of
    git = GitState() if options.no_exec else read_git_state(plan.config.root)
    return RunAbout(
        options=replace(options, name=None, note=None).to_dict(),
        evalcase=__version__,
        python=sys.version.split(maxsplit=1)[0],
        prices=prices_version() if any(map(is_priced, (*plan.trials, *plan.users))) else None,
        suites=basis.suites,
        targets=tuple(plan.trials),
        target_versions=find_versions(plan),
        default_target=plan.config.target,
        trials=plan.planned,
        cases=plan.cases,
        selected=None if plan.selected is None else SelectedCases(*plan.selected),
        failed_of=None if failed_of is None else failed_of.run,
        cwd=os.path.relpath(plan.environment.cwd, plan.config.root),
        dealt=basis.dealt,
        rests_on=basis.rests_on,
        name=options.name and scrub(options.name),
        note=options.note and scrub(options.note),
        commit=git.commit,
        branch=git.branch,
        dirty=git.dirty,
    )


def _describe_basis(plan: Plan) -> Basis:
    """What verdicts rest on beside the answers, as it is now."""
    return Basis(plan.suites.hashes(), plan.selector.dealt, plan.graders.rests_on() or None)
