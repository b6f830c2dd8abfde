"""Which trials of a run are left: those without a result, and those whose question or grading has
changed since. Of a new run, all trials are left.

Also: which run `resume` continues, and by which options.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence

from evalcase.config.options import RunOptions
from evalcase.config.targets import version_of
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.report.evaluated import hold_to_gates, read_evaluated
from evalcase.runner.grading import UnaskedTurnsError
from evalcase.runner.plan import Plan, RunRequest, trials_of
from evalcase.runner.schedule import Engine
from evalcase.runner.trials import Trials
from evalcase.store.folder import Run
from evalcase.store.index import FinishedTrial, Index, read_index
from evalcase.store.journal import RunWriter
from evalcase.store.reader import read_end
from evalcase.store.rows import End, GradingRow, TargetRow
from evalcase.store.stored import StoredRun
from evalcase.types.result import Result, Totals, Trial, Verdict
from evalcase.types.target import SentBatch, TargetVersion, TrialKey
from evalcase.types.value import replace
from evalcase.util.environment import stamp

_SCRUBBED = "was recorded without a secret that was in it"
_UNASKED = "has no turns after one that failed"
_REGRADED = "graders or expectations changed: regrading stored answers"
_DECIDED = "the number of trials of a case, or how many must pass, changed: deciding it again"


class Pending:
    """The trials of a run that are left. Each is asked and graded, or only graded, and stored."""

    def __init__(  # noqa: PLR0913 - the parts of a run come together here
        self, plan: Plan, record: Run, index: Index, trials: Trials, writer: RunWriter,
        again: tuple[Verdict, ...], ordered: Mapping[str, Sequence[Trial]] | None, *, is_new: bool,
    ) -> None:  # fmt: skip
        """Trials with a verdict in `again` are run again. `ordered` has the trials of each target,
        where `--stop` has put them in an order."""
        self._plan = plan
        self._record = record
        self._index = index
        self._trials = trials
        self._writer = writer
        self._again = again
        self._ordered = ordered
        self._has_results = len(index) > 0
        self._changed = {} if is_new else _find_changes(plan, record, index.versions)
        """Targets that have changed since they were last asked."""
        self._regrading: dict[TrialKey, FinishedTrial] = {}
        """Trials whose stored answers are graded again."""
        self.grading = index.gradings
        """The number of the newest grading."""
        interrupted = index.find_interrupted(index.gradings)
        self._resumes_grading = interrupted is not None and interrupted.origin == "resume"
        self._has_new_grading = self._is_noted = False
        self._known = self._known_cases = 0
        """Planned trials, and cases, that had a result."""
        self._finished = 0
        """Planned trials whose result still counts."""
        self._later = 0
        """Trials beyond those of the plan that are run or graded again."""

    def left(self, target: str, engine: Engine) -> Iterator[Trial]:
        """The trials of a target that have no result, or one that no longer counts."""
        if not self._has_results:
            yield from self._planned(target, engine)
            return
        last = None
        for trial in self._planned(target, engine):
            for later, known in self._find_later(trial):
                if self._is_stale(later, known):
                    self._later += 1
                    yield later
            found = self._index.find(trial.key)
            if found is not None:
                self._known += 1
                self._known_cases += trial.number != last
                last = trial.number
            if found is None or self._is_stale(trial, found):
                yield trial
            else:
                self._finished += 1

    def left_to_ask(self, target: str, engine: Engine) -> Iterator[Trial]:
        """The trials for which a target has to be asked."""
        for trial in self._planned(target, engine):
            for each, known in (*self._find_later(trial), (trial, self._index.find(trial.key))):
                if known is None or self._must_ask(each, known):
                    yield each

    def find_batches(self, target: str) -> list[SentBatch]:
        return [each for each in self._index.batches.values() if each.target == target]

    def store(self, trial: Trial, result: Result) -> Awaitable[None]:
        is_graded_again = self._regrading.pop(result.key, None) is not None
        return self._writer.append(trial, result, is_graded_again=is_graded_again)

    def find_end(self, engine: Engine) -> End:
        """How the run ended, as far as its trials say. It is completed if every trial that is
        planned now, and every case that was planned at first, has a result."""
        plan, is_resumed = self._plan, self._has_results
        errored = None if is_resumed else self._writer.errored
        missing = plan.planned + self._later - self._finished - self._writer.taken
        if missing > 0 and engine.interrupted:
            return End("interrupted", errored=errored)
        stopped = End("stopped", errored=errored)
        if missing > 0:
            have = "has" if missing == 1 else "have"
            why = f"{missing:,} of {plan.planned:,} trials {have} no result"
            return replace(stopped, notice=engine.stop_reason or why)
        try:
            plan.suites.verify()
        except ConfigError as error:
            return replace(stopped, notice=str(error))
        is_regraded = self._has_new_grading or self._resumes_grading
        stopped = replace(stopped, graded=self.grading if is_regraded else None)
        gone = len(self._index) - self._known
        if gone:
            are = "1 trial is" if gone == 1 else f"{gone:,} trials are"
            plan.warn(f"{are} no longer part of the suites; still counted")
        planned = self._record.about.cases or 0
        new_cases = plan.cases - self._known_cases
        lost = max(0, planned - self._index.count_cases() - new_cases)
        if lost:
            which = "no longer part of the suites, and without a result"
            why = f"{lost:,} of {planned:,} planned cases: {which}"
            return replace(stopped, notice=why, lost=lost)
        if is_resumed and not self._writer.taken:
            said = f"nothing to do: {self._record.id} is complete"
            changed = ", ".join(f"`{name}`" for name in self._changed)
            plan.note(
                f"{said}. Its answers are from before {changed} changed; `evalcase run` asks again"
                if changed
                else f"{said}, and its questions and graders have not changed"
            )
        return replace(stopped, status="completed", trials=plan.planned + gone)

    def totals(self) -> Totals | None:
        return self._writer.totals()

    def mixed(self) -> tuple[str, ...]:
        """Targets that were changed between answers that count."""
        # Results of this session are only in the journal.
        return read_index(self._record.journal).mixed() if self._index.versions else ()

    def _planned(self, target: str, engine: Engine) -> Iterator[Trial]:
        try:
            ordered = self._ordered
            yield from trials_of(self._plan, target) if ordered is None else ordered[target]
        except ConfigError as error:
            engine.stop(str(error))
        except SuiteError as error:
            engine.stop(f"a suite changed while it was run: {error.problems[0]}")

    def _find_later(self, first: Trial) -> Iterator[tuple[Trial, FinishedTrial]]:
        """Given the first trial of a case: its trials from when it was repeated more often. They
        still count, so they have to rest on the case as it is now."""
        if first.repeat > 1:
            return
        for repeat in range(first.repeats + 1, self._index.last_repeat + 1):
            later = first._replace(repeat=repeat)
            found = self._index.find(later.key)
            if found is not None:
                yield later, found

    def _is_stale(self, trial: Trial, known: FinishedTrial) -> bool:
        if self._must_ask(trial, known):
            return True
        if self._must_grade(trial, known) or self._must_decide(trial, known):
            self._regrading[trial.key] = known
            return True
        return False

    def _must_ask(self, trial: Trial, known: FinishedTrial) -> bool:
        if known.verdict == "skipped":
            if not trial.case.skip:
                self._plan.note(f"case {trial.case.id} is no longer skipped")
            return not trial.case.skip
        if known.question != hash(self._trials.hash_question(trial)):
            self._plan.note(f"case {trial.case.id} changed since it was run: running it again")
            return True
        return known.verdict in self._again and not known.answered

    def _must_grade(self, trial: Trial, known: FinishedTrial) -> bool:
        if not known.answered:
            return False
        changed = known.grading != hash(self._trials.hash_grading(trial.case, trial.suite))
        if changed:
            self._begin_grading(_REGRADED)
        return changed or known.verdict in self._again

    def _must_decide(self, trial: Trial, known: FinishedTrial) -> bool:
        """Whether another number of trials, or another share of them, decides the case now."""
        decided_by = trial.repeats, trial.case.pass_rate
        changed = known.verdict != "skipped" and (known.repeats, known.pass_rate) != decided_by
        if changed:
            self._begin_grading(_DECIDED)
        return changed

    def _begin_grading(self, why: str) -> None:
        """From here on, results belong to a further grading: an interrupted one, or a new one."""
        self._plan.note(why)
        if not self._has_new_grading:
            self._has_new_grading = True
            self.grading += not self._resumes_grading

    def find_result(self, trial: Trial) -> Awaitable[Result]:
        if self._regrading and (known := self._regrading.get(trial.key)) is not None:
            return self._regrade(trial, known)
        case, data = trial.case, trial.case._data
        if data.get("skip"):
            return self._trials.run(trial)
        if self._changed:
            self._note_change(trial.target)
            if case.user is not None:
                self._note_change(case.user.target)
        if "workspace" in data:
            return self._trials.run_in_workspace(trial)
        return self._trials.run(trial)

    def _note_change(self, target: str) -> None:
        """From here on, answers are those of a target as it is now."""
        version = self._changed.pop(target, None)
        if version is not None:
            self._index.versions[target] = version
            self._writer.note(TargetRow(target, version, stamp()))

    async def _regrade(self, trial: Trial, known: FinishedTrial) -> Result:
        if self._has_new_grading and not self._is_noted:  # before the first result of it
            self._is_noted = True
            now, hashes = stamp(), self._plan.suites.hashes()
            self._writer.note(GradingRow(self.grading, now, "resume", hashes))
        before = self._index.read_result(known)
        if not self._must_grade(trial, known):
            case = trial.case
            return replace(
                before, grading=self.grading, repeats=trial.repeats, pass_rate=case.pass_rate
            )
        if before.answer is not None and before.answer.scrubbed:
            return await self._ask_again(trial, _SCRUBBED)
        try:
            return await self._trials.regrade(trial, before, self.grading)
        except UnaskedTurnsError:
            return await self._ask_again(trial, _UNASKED)

    async def _ask_again(self, trial: Trial, why: str) -> Result:
        """Where no verdict on the stored answer would hold."""
        self._plan.warn(
            f"the answer to case {trial.case.id} {why}, and can't be graded again: the target is "
            "asked again"
        )
        del self._regrading[trial.key]
        return await self.find_result(trial)


def find_versions(plan: Plan) -> dict[str, TargetVersion]:
    """The version of each target, by its name. They have to be open."""
    return {
        name: version_of(target, plan.config.targets.get(name))
        for name, target in sorted({**plan.targets, **plan.users}.items())
    }


def _find_changes(
    plan: Plan, run: Run, last: Mapping[str, TargetVersion]
) -> dict[str, TargetVersion]:
    """The targets that changed since they were last asked, with their versions now. `last` are the
    changes that the journal has. A warning tells of each."""
    changed = {}
    for name, now in find_versions(plan).items():
        before = last.get(name) or run.about.target_versions.get(name)
        if before is not None and before != now:
            changed[name] = now
            what = "its configuration" if before.options != now.options else "its code"
            plan.warn(f"target `{name}` changed since this run started: {what}")
    return changed


# Which run is continued, and how


def read_request(run: Run) -> RunOptions:
    """The options that a run was started with. Raise RecordError if the record has none."""
    try:
        return RunOptions.from_dict(run.about.options)
    except (ConfigError, ValueError) as error:
        raise RecordError(f"{run.path}: run.json does not say what was run: {error}") from None


def request_rest(request: RunRequest, run: Run, *, retry_errored: bool) -> RunRequest:
    """A request for what is left of a run, with the default target that it was started with."""
    config = replace(request.config, target=run.about.default_target)
    again: tuple[Verdict, ...] = ("errored",) if retry_errored else ()
    return replace(request, config=config, run=run, again=again)


def find_broken_grading(run: Run) -> GradingRow | None:
    """The newest grading of a run, if it was interrupted."""
    if read_end(run.journal).status == "completed":
        return None
    index = StoredRun(run).index
    return index.find_interrupted(index.gradings)


def describe_dropped(run: Run) -> str:
    """The decision about a run that no longer counts when it is continued; empty without one."""
    decision = read_end(run.journal).decision
    if decision is None:
        return ""
    return f"the run was {decision}. That is dropped, and the rest is run now"


def find_exit_code(run: Run) -> int:
    return hold_to_gates(read_evaluated(StoredRun(run)), read_request(run)).exit_code
