"""A plan carried out: targets and record opened, what is left of the work done, a conclusion."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial

from evalcase.config.targets import bounds_of
from evalcase.errors import RecordError
from evalcase.runner.dispatch import Gate, Workplace
from evalcase.runner.evaluated import Evaluated
from evalcase.runner.event_loop import BlockingCall, LoopWatch
from evalcase.runner.events import Watcher
from evalcase.runner.opening import CLOSE_S, OpenTargets
from evalcase.runner.pacing import Budget, Limits
from evalcase.runner.plan import Plan, errors_without_secrets, refuse_secret_names, watch_keys
from evalcase.runner.record import conclude_run, describe_plan, find_changes, find_new_basis
from evalcase.runner.regrade import By
from evalcase.runner.resume import Work
from evalcase.runner.schedule import Engine, Job
from evalcase.runner.stopping import FailFast, Stopping
from evalcase.runner.trials import Trials
from evalcase.store.cache import CACHE_FOLDER, AnswerCache
from evalcase.store.folder import Run, create_run, make_sealer, read_run
from evalcase.store.index import Index
from evalcase.store.journal import Journal, JournalFailure, open_journal
from evalcase.store.reader import read_time_taken
from evalcase.store.rows import End, Row, Status
from evalcase.store.writer import RunWriter, rows_ahead
from evalcase.types.result import Verdict
from evalcase.types.value import replace
from evalcase.util.environment import monotonic
from evalcase.util.table import mark_of
from evalcase.util.user_calls import UserCalls


class Evaluation:
    """A run on its way. `engine` is there once trials are under way, and can be interrupted."""

    def __init__(
        self, plan: Plan, watcher: Watcher, by: By | None = None,
        workplace: Workplace | None = None, stopping: Stopping | None = None,
    ) -> None:  # fmt: skip
        """With `by`, answers that are known are graded by that, and nobody is asked. `workplace` is
        where trials are answered, if that is not this process; and `stopping` says when a new run
        is decided, if that ends it."""
        self.plan = plan
        self._watcher = watcher
        self._by = by
        self._workplace = workplace
        self._stopping = stopping
        self.engine: Engine | None = None
        self.run: Run | None = None
        """The run that it is of, once there is one."""
        self._broken: BaseException | None = None
        self._budget: Budget | None = None
        self._is_new = False

    async def carry_out(
        self, runs_dir: str, run: Run | None = None, again: tuple[Verdict, ...] = (),
        on_overdue: Callable[[BlockingCall], None] = lambda _: None,
    ) -> Evaluated:  # fmt: skip
        """Run what is not finished of a run, or a new one in `runs_dir`.

        A trial whose verdict is in `again` counts as not finished. The folder of a new run is made
        once all targets are open, so that a name that can't be resolved leaves none behind.
        `on_overdue` is called, in another thread, with a call that blocks the event loop beyond its
        time limit.
        """
        with errors_without_secrets(self.plan.scrubber):
            return await self._carry_out(runs_dir, run, again, on_overdue)

    async def _carry_out(
        self, runs_dir: str, run: Run | None, again: tuple[Verdict, ...],
        on_overdue: Callable[[BlockingCall], None],
    ) -> Evaluated:  # fmt: skip
        self._stand_in()
        plan = self.plan
        if run is None:
            refuse_secret_names(plan.trials, plan.scrubber)
        self._is_new = run is None
        goes_on = run is not None and self._by is None
        opening = partial(self._opening, goes_on=goes_on)
        async with UserCalls() as self._calls, self._there(), opening() as targets:
            if run is None:
                environment = plan.environment
                run = create_run(
                    runs_dir, describe_plan(plan), now=environment.now(),
                    random=environment.entropy,
                    sealer=make_sealer(environment.state, plan.config.root, environment.entropy),
                )  # fmt: skip
            self.run = run
            try:
                with LoopWatch(plan.warn, self._calls.is_overdue, on_overdue):
                    return await self._record(run, targets, again)
            finally:
                await self._calls.settle()
                await self._close_graders()

    def _there(self) -> AbstractAsyncContextManager[object]:
        return self._workplace if self._workplace is not None else nullcontext()

    def _stand_in(self) -> None:
        """Have targets that are made elsewhere stood in for, from here on."""
        if self._workplace is not None:
            stand_in = self._workplace.stand_in
            # What is sent in batches is no work for anybody here.
            targets = {
                name: target if target.traits.batching is not None else stand_in(name)
                for name, target in self.plan.targets.items()
            }
            users = {name: stand_in(name) for name in self.plan.users}
            judges = {name: stand_in(name) for name in self.plan.judges}
            self.plan = replace(
                self.plan, targets=targets, make=stand_in, users=users, judges=judges
            )

    def _opening(self, *, goes_on: bool) -> OpenTargets:
        """All who will be asked. Of a run that goes on, nobody knows yet if there is anything left
        to judge: `Work` sees to that."""
        plan = self.plan
        opened = partial(watch_keys, plan.scrubber)
        judges = {} if goes_on else plan.judges
        targets = {**plan.targets, **plan.users, **judges}
        explain = plan.explain_unopened
        return OpenTargets(targets, plan.make, plan.warn, opened, self._calls, explain)

    async def _close_graders(self) -> None:
        outcome = await self._calls.run(self.plan.graders.close, CLOSE_S, "close")
        if outcome.is_late or outcome.error is not None:
            late = f"took more than {CLOSE_S:g} s"
            what = late if outcome.is_late else f"failed: {outcome.error!r}"
            self.plan.warn(f"tear-down of the graders {what}")

    async def _record(
        self, run: Run, targets: OpenTargets, again: tuple[Verdict, ...]
    ) -> Evaluated:
        loop = asyncio.get_running_loop()
        begun, before_s = monotonic(), read_time_taken(run.journal)
        failed: list[JournalFailure | RecordError] = []

        def deliver(dones: list[Callable[[], None]]) -> None:
            loop.call_soon_threadsafe(self._show, dones)

        def journal_failed(failure: JournalFailure) -> None:
            failed.append(failure)
            loop.call_soon_threadsafe(self._cancel)

        index = Index()
        journal = open_journal(
            run.journal, scrubber=self.plan.scrubber, deliver=deliver, on_failure=journal_failed,
            read=index.read,
        )  # fmt: skip
        if (cut := journal.cut) is not None:
            self.plan.warn(
                f"the last line of {run.journal}, {cut.line}, was half written when the run "
                "ended: it is dropped, and its trial is run again"
            )
        try:
            self._watcher.resumed(index.count_finished(again))
            work, engine = self._set_up(run, targets, journal, index, again)
            end = work.complete_end(self._end(*await work.go(engine)))
            if before_s is not None:
                end = replace(end, duration_s=round(before_s + monotonic() - begun, 3))
            with suppress(RecordError):  # it is raised once more when the journal is closed
                for row in (*self._new_basis(run, index, end), end):
                    journal.append(row, lambda: None)
        finally:
            try:
                journal.close()
                read_run(run.path)  # whoever cleared up around it may have taken the rest
            except RecordError as error:
                failed.append(error)
        await asyncio.sleep(0)  # what is on disk by now is to be shown, too
        if self._broken is not None:
            raise self._broken
        if failed:
            end = End("failed", str(failed[0]), duration_s=end.duration_s)
        is_new, is_failed = self._is_new, bool(failed)
        return conclude_run(self.plan, run, end, work, is_new=is_new, is_failed=is_failed)

    def _new_basis(self, run: Run, index: Index, end: End) -> list[Row]:
        is_whole = end.status == "completed" or end.graded is not None
        if self._is_new or not is_whole:
            return []
        return find_new_basis(self.plan, run, index.basis, self._by)

    def _end(self, status: Status, notice: str | None) -> End:
        """How it ended, in so far as the engine and the budget know."""
        assert self.engine is not None
        assert self._budget is not None
        notice = None if notice is None else self.plan.scrubber.text(notice)
        if status != "stopped":
            return End(status, notice)
        cap_usd = self._budget.cap_usd if self._budget.is_spent else None
        decision = None
        if self._stopping is not None and self._stopping.decision is not None:
            said = self.plan.scrubber.text(str(self._stopping.decision))
            ended = self.plan.scrubber.text(self._stopping.conclude())
            notice, decision = ended if notice == said else notice, self._stopping.decision
        return End(status, notice, self.engine.failed_fast, cap_usd, decision=decision)

    def _set_up(
        self, run: Run, targets: OpenTargets, journal: Journal, index: Index,
        again: tuple[Verdict, ...],
    ) -> tuple[Job, Engine]:  # fmt: skip
        """The engine with its gate, and the work that goes through it."""
        plan, limits = self.plan, self._limits()
        tally = index.tally()
        spent_usd = tally.totals().spent_usd or 0.0
        ahead = rows_ahead(limits.concurrency)
        # What was there before may be told anew: then only the journal can count.
        replaces = len(index) > 0
        recording = RunWriter(journal, tally, self._watcher.finished, ahead, replaces=replaces)
        stopping, workplace = self._stopping, self._workplace
        engine = self.engine = Engine(
            limits, self._watcher, self._fail_fast(index, again), targets.context,
            stopping.look if stopping is not None else None,
        )  # fmt: skip
        budget = self._budget = Budget(plan.options.max_cost_usd, spent_usd, engine.stop)
        budget.spend(0.0)  # what earlier sessions spent may be all there is
        calls, store = self._calls, self._store()
        gate = Gate(
            targets, limits, engine, budget, calls, plan.environment.random,
            warn=plan.warn, store=store, workplace=workplace,
        )  # fmt: skip
        trials = Trials(plan, engine, gate, calls, run.id, recording.lose, workplace)
        if self._by is not None:
            from evalcase.runner.regrade import Grading

            return Grading(plan, run, index, trials, recording, self._by), engine
        changed = {} if self._is_new else find_changes(plan, run, index.versions)
        ordered = stopping.ordered if stopping is not None else None
        return Work(
            plan, run, index, trials, recording, again, changed, ordered=ordered,
            open_judges=partial(targets.open_all, plan.judges),
        ), engine  # fmt: skip

    def _limits(self) -> Limits:
        # No more workers than there is work, and no more than a target says it can take.
        plan = self.plan
        per_target = {
            name: min([count, *bounds_of(name, plan.targets[name], plan.config)])
            for name, count in plan.trials.items()
        }
        return Limits.of(plan.options, plan.config, per_target)

    def _fail_fast(self, index: Index, again: tuple[Verdict, ...]) -> FailFast | None:
        """What looks for a case that fails. Those that did before don't stop what goes on now."""
        options = self.plan.options
        if not options.fail_fast:
            return None
        watch = FailFast(options.max_errors, lambda result: mark_of(result.key[:3]))
        for each in index.counted():
            if each.verdict not in again:
                watch.note(each.group, each.verdict, each.repeats, each.pass_rate)
        return watch

    def _store(self) -> AnswerCache | None:
        plan = self.plan
        if not plan.options.caches(plan.config.cache):
            return None
        folder = os.path.join(plan.config.root, CACHE_FOLDER)
        return AnswerCache(folder, plan.scrubber, plan.warn)

    def _show(self, dones: list[Callable[[], None]]) -> None:
        """Tell of results that are on disk. If whoever is told breaks, the run stops, and says so
        when all that is under way has been kept."""
        for done in dones:
            try:
                done()
            except BaseException as error:  # noqa: BLE001 - a watcher may be the user's own code
                self._broken = self._broken or error
        if self._broken is not None and self.engine is not None:
            self.engine.stop(f"{type(self._broken).__name__} while a result was shown")

    def _cancel(self) -> None:
        if self.engine is not None:
            self.engine.cancel()
