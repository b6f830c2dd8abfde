"""Which trials of a run are left: those without a result, and those whose question or grading has
changed since."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

from evalcase import __version__
from evalcase.config.options import RunOptions
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.runner.batches import BatchPhase
from evalcase.runner.conversation import UnaskedTurnsError
from evalcase.runner.evaluated import hold_to_gates, read_evaluated
from evalcase.runner.hashes import hash_plain_case
from evalcase.runner.plan import OpenAll, Plan, RunRequest, open_before, trials_of, warn_once
from evalcase.runner.record import say_broken, say_gone, say_nothing_left, say_without_result
from evalcase.runner.schedule import Engine, Job
from evalcase.runner.select import Says
from evalcase.runner.trials import Trials
from evalcase.store.folder import Run, is_own
from evalcase.store.index import FinishedTrial, Index, read_index
from evalcase.store.reader import has_gradings, open_journal_file, read_end, read_result_at
from evalcase.store.rows import End, GradingRow, Row, Status, TalkRow, TargetRow
from evalcase.store.runs import find_run, list_runs, newest_run, newest_unfinished
from evalcase.store.stored import StoredRun
from evalcase.store.writer import RunWriter
from evalcase.types.case import Case
from evalcase.types.question import TrialKey
from evalcase.types.result import Result, Totals, Trial, Verdict
from evalcase.types.target import TargetVersion
from evalcase.types.value import replace
from evalcase.util.files import UNREADABLE
from evalcase.util.table import mark_of


def choose_run(name: str | None, folder: str, *, errored: bool) -> Run | None:
    """The run that is named; or the newest that is not finished, else the newest. Raise ConfigError
    where one of its gradings is named."""
    if name is None:
        return newest_unfinished(folder, errored=errored) or newest_run(folder)
    run, grading = find_run(name, folder)
    if grading is not None:
        raise ConfigError(f"resume continues a run, not one of its gradings: say `{run.id}`")
    return run


def find_stranger(
    chosen: Run | None, folder: str, root: str, state: str | None, *, is_named: bool
) -> Run | None:
    """A run of somebody else's that would be gone on with. Where none is named, the newest has a
    say in the exit code, and a stranger's could make it better."""
    newest = [] if is_named else [listed.run for listed in list_runs(folder, 1)]
    for run in (*newest, chosen):
        if run is not None and not is_own(run, state, root):
            return run
    return None


def read_request(run: Run) -> RunOptions:
    """What was asked for when a run was begun. Raise RecordError if the record doesn't say."""
    try:
        return RunOptions.from_dict(run.about.options)
    except (ConfigError, ValueError) as error:
        raise RecordError(f"{run.path}: run.json does not say what was run: {error}") from None


def request_rest(request: RunRequest, run: Run, *, retry_errored: bool) -> RunRequest:
    """A request for what is left of a run. Its targets are those it began with, whatever the
    configuration says by now."""
    config = replace(request.config, target=run.about.default_target)
    again: tuple[Verdict, ...] = ("errored",) if retry_errored else ()
    return replace(request, config=config, run=run, again=again)


def find_broken_grading(run: Run) -> GradingRow | None:
    """The newest grading of a run, if it was broken off."""
    if not has_gradings(run.journal):
        return None  # most runs have none, and who goes on with them reads the journal himself
    return StoredRun(run).find_interrupted()


def describe_dropped(run: Run) -> str:
    """What was decided of a run, and no longer counts when it goes on; empty if nothing was."""
    decision = read_end(run.journal).decision
    if decision is None:
        return ""
    return f"the run was {decision}. That is dropped, and the rest is run now"


def find_exit_code(run: Run) -> int:
    """The exit code of a run as it stands, by what was asked for when it was begun."""
    return hold_to_gates(read_evaluated(StoredRun(run)), read_request(run)).exit_code


def note_basis(end: End, plan: Plan, plain: int) -> End:
    """The same end with a hash of what all trials of a plan rest on, if all of them ask and expect
    plain texts."""
    basis = print_basis(plan) if plain == plan.planned == plan.cases else None
    return end if basis is None else replace(end, rests_on=basis)


def print_basis(plan: Plan) -> str | None:
    """A hash of all that decides what trials a plan has, and what each asks and expects, if those
    are plain texts: neither files in content nor graders are in it. None where no file says it."""
    try:
        files = plan.suites.file_hashes()
    except ConfigError:  # one is being written to; who looks at the cases says so
        return None
    if not files or UNREADABLE in files.values():
        return None
    options = plan.options
    asked = options.targets, plan.config.target, options.repeat, options.selection
    # The version is in it, for another one may make other cases of the same files.
    told = repr((__version__, sorted(files.items()), asked))
    return sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def is_settled(plan: Plan, index: Index) -> bool:
    """Whether all trials of a plan have results that stand. If this doesn't know, a look at each of
    them does."""
    basis = index.find_basis()
    return basis is not None and len(index) >= plan.planned and basis == print_basis(plan)


def find_later(first: Trial, index: Index) -> Iterator[tuple[Trial, FinishedTrial]]:
    """The trials of a case from when it was repeated more often, given its first: they count still,
    and so have to rest on what it says now, as the others do. Where a run was broken off, some of
    them may have no result."""
    if first.repeat > 1:
        return
    for repeat in range(first.repeats + 1, index.last_repeat + 1):
        later = first._replace(repeat=repeat)
        found = index.find(later.key)
        if found is not None:
            yield later, found


def count_planned(end: End, plan: Plan, index: Index, new: int) -> End:
    """The same end; where a run that went on was interrupted, with how many of the trials that are
    planned now have a result, `new` ones among them, if the suites can still say."""
    if end.status != "interrupted" or (finished := _count_finished(plan, index)) is None:
        return end
    return replace(end, finished=new + finished, planned=plan.planned)


def _count_finished(plan: Plan, index: Index) -> int | None:
    """How many of the trials that are planned now have a result; None if the suites can't say."""
    trials = (trial for name in plan.trials for trial in trials_of(plan, name))
    try:
        return sum(index.find(each.key) is not None for each in trials)
    except (ConfigError, SuiteError):
        return None


class NewGrading:
    """Stands for one that was broken off, or for one that has to be begun."""

    def __init__(self, plan: Plan, index: Index, note: Callable[[Row], None]) -> None:
        """`note` writes a row."""
        self._plan = plan
        self._note_row = note
        self._tell_once = warn_once(plan.tell)
        self.number = index.gradings
        """Which of its gradings the run stands at."""
        broken = index.find_interrupted(index.gradings)
        self._goes_on = broken is not None and broken.origin == "resume"
        self._is_begun = self._is_noted = False

    @property
    def is_under_way(self) -> bool:
        return self._is_begun or self._goes_on

    def begin(self, why: str) -> None:
        """Tell why results become others. What they were before stays beside it."""
        self._tell_once(why)
        if not self._is_begun:
            self._is_begun = True
            self.number += not self._goes_on

    def note(self) -> None:
        """Note that results become others, when the first of them does."""
        if self._is_begun and not self._is_noted:
            self._is_noted = True
            now, hashes = self._plan.environment.stamp(), self._plan.suites.hashes()
            self._note_row(GradingRow(self.number, now, "resume", hashes))


_SCRUBBED = "was recorded without a secret that was in it"
_UNASKED = "has no turns after one that failed"
_GRADED_BY = "graders or expectations changed: regrading stored answers"
_DECIDED_BY = "the number of trials of a case, or how many must pass, changed: deciding it again"


class Work(Job):
    """The trials of a run: finds those that are left, and sends each through ask, grade, keep."""

    def __init__(  # noqa: PLR0913 - what a run is made of comes together here
        self, plan: Plan, run: Run, index: Index, trials: Trials, recording: RunWriter,
        again: tuple[Verdict, ...], changed: Mapping[str, TargetVersion],
        *, ordered: Mapping[str, Sequence[Trial]] | None, open_judges: OpenAll,
    ) -> None:  # fmt: skip
        """`ordered` are the trials of each target, where they come in an order of their own."""
        self._plan = plan
        self._run = run
        self._index = index
        self._trials = trials
        self._recording = recording
        self._again = again
        self._ordered = ordered
        self._open_judges = open_judges
        self._changed = dict(changed)
        """Targets that are not what they were, as long as they have not been asked."""
        self._regrading: dict[TrialKey, FinishedTrial] = {}
        """Of the trials under way: whose answers are graded again."""
        self._anew = NewGrading(plan, index, recording.note)
        self._graded: int | None = None
        """The later grading that is brought to its end, once it is."""
        self._goes_on = len(index) > 0
        self._may_stand = not again and not plan.graders.given
        self._standing = 0
        """Trials that were seen at once to be as they were; of all others:"""
        self._known = 0
        self._known_cases = 0
        self._finished = 0
        self._new = 0
        self._later = 0
        """Trials beyond those of the plan that are run or graded again."""
        self._lost = 0
        """Cases that were planned when the run was begun, and that can't be run any more."""

    @property
    def grading(self) -> int:
        return self._anew.number

    async def go(self, engine: Engine) -> tuple[Status, str | None]:
        left = {name: self._left(name, engine) for name in self._plan.trials}
        left = await open_before(left, self._open_judges)
        if any(target.traits.batching for target in self._plan.targets.values()):
            await self._send_batches(engine)
        await engine.run(left, self.try_one, self.keep)
        planned = self._plan.planned + self._later
        missing = planned - self._standing - self._finished - self._recording.taken
        if missing > 0 and engine.interrupted:
            return "interrupted", None
        if missing > 0:
            return "stopped", engine.stop_reason or say_without_result(missing, self._plan.planned)
        try:
            self._plan.suites.verify()
        except ConfigError as error:
            return "stopped", str(error)
        if self._anew.is_under_way:
            self._graded = self.grading
        # All that is planned now is there. The suites may have had more when the run was begun.
        if gone := len(self._index) - self._standing - self._known:
            self._plan.warn(f"{say_gone(gone)}; still counted")
        planned = self._run.about.cases or 0
        new = self._plan.cases - self._standing - self._known_cases
        self._lost = max(0, planned - self._index.count_cases() - new)
        if self._lost:
            which = "no longer part of the suites, and without a result"
            return "stopped", f"{self._lost:,} of {planned:,} planned cases: {which}"
        if len(self._index) and not self._recording.taken:
            self._plan.tell(say_nothing_left(self._run.id, self._changed))
        return "completed", None

    async def _send_batches(self, engine: Engine) -> None:
        phase = BatchPhase(self._plan, self._run.id, self._recording, self._trials, engine)
        for name, target in self._plan.targets.items():
            if target.traits.batching is not None and not engine.stopping:
                sent = [each for each in self._index.batches.values() if each.target == name]
                asked = self._to_ask(name, engine)
                await engine.before(phase.go(name, target.traits.batching, sent, asked))

    def _to_ask(self, name: str, engine: Engine) -> Iterator[Trial]:
        """The trials of a target that it is asked for."""
        for trial in self._planned(name, engine):
            known = self._index.find(trial.key)
            both = [*find_later(trial, self._index), (trial, known)]
            yield from (each for each, old in both if old is None or self._must_ask(each, old))

    def try_one(self, trial: Trial) -> Awaitable[Result]:
        """Ask and grade; or only grade, where the answer is known."""
        known = self._regrading.get(trial.key) if self._regrading else None
        if known is not None:
            return self._regrade(trial, known)
        return self._ask(trial)

    def _ask(self, trial: Trial) -> Awaitable[Result]:
        if self._changed and not trial.case.skip:
            self._note_change(trial.target)
            if "user" in trial.case._data:
                self._note_change(trial.case._data["user"]["target"])
        case = trial.case
        if ("turns" in case._data or "user" in case._data) and not case.skip:
            if self._index.was_interrupted(trial.key):
                self._plan.tell(say_broken(case.id))
            # It may take long: whoever resumes should know that it was begun.
            self._recording.note(TalkRow(trial.key))
        return self._trials.run(trial)

    def _note_change(self, target: str) -> None:
        """From here on, results are of a target as it is now."""
        version = self._changed.pop(target, None)
        if version is not None:
            self._index.versions[target] = version
            self._recording.note(TargetRow(target, version, self._plan.environment.stamp()))

    async def _regrade(self, trial: Trial, known: FinishedTrial) -> Result:
        self._anew.note()
        with open_journal_file(self._run.journal) as file:
            before = read_result_at(self._run.journal, file, known.answer_at, known.grading_at)
        if self._must_grade(trial, known):
            if before.answer is not None and before.answer.scrubbed:
                return await self._ask_again(trial, _SCRUBBED)
            try:
                return await self._trials.regrade(trial, before, self.grading)
            except UnaskedTurnsError:
                return await self._ask_again(trial, _UNASKED)
        # The verdict stands; but of how many trials it is one, and how many must pass, has changed.
        return replace(
            before, grading=self.grading, repeats=trial.repeats, pass_rate=trial.case.pass_rate
        )

    async def _ask_again(self, trial: Trial, why: str) -> Result:
        """Where no verdict on the answer that there is would hold."""
        self._plan.warn(
            f"the answer to case {trial.case.id} {why}, and can't be graded again: the target is "
            "asked again"
        )
        del self._regrading[trial.key]
        return await self._ask(trial)

    def keep(self, trial: Trial, result: Result) -> Awaitable[None] | None:
        """Keep what came of a trial; what is returned is to be waited for."""
        if self._regrading and self._regrading.pop(trial.key, None) is not None:
            return self._recording.append_grading(trial, result)
        if self._goes_on and self._index.find(trial.key) is None:
            self._new += 1
        return self._recording.append(trial, result)

    def totals(self) -> Totals | None:
        return self._recording.totals()

    def mixed(self) -> tuple[str, ...]:
        # What was kept just now is in the journal only.
        return read_index(self._run.journal).mixed() if self._index.versions else ()

    def complete_end(self, end: End) -> End:
        errored = None if self._goes_on else self._recording.errored
        end = replace(end, errored=errored, lost=self._lost, graded=self._graded)
        end = self._count_trials(end)
        return count_planned(end, self._plan, self._index, self._new) if self._goes_on else end

    def _count_trials(self, end: End) -> End:
        """The same end; where all that is planned is done, with how many trials have a result (also
        those that are no longer part of the suites), and what they rest on."""
        if end.status != "completed":
            return end
        gone = len(self._index) - self._standing - self._known
        plain = 0 if gone or self._recording.errored else self._standing + self._trials.plain
        return note_basis(replace(end, trials=self._plan.planned + gone), self._plan, plain)

    @cached_property
    def _is_settled(self) -> bool:
        return self._may_stand and is_settled(self._plan, self._index)

    def _left(self, name: str, engine: Engine) -> Iterator[Trial]:
        """The trials of a target that have no result, or one that counts no more."""
        if not len(self._index):
            yield from self._planned(name, engine)
            return
        if self._is_settled:
            self._standing += self._plan.trials[name]
            return
        last = None
        for trial in self._planned(name, engine, self._stands if self._may_stand else None):
            for later, found in find_later(trial, self._index):
                if self._is_stale(later, found):
                    self._later += 1
                    yield later
            known = self._index.find(trial.key)
            if known is not None:
                self._known += 1
                self._known_cases += trial.number != last
                last = trial.number
            if known is None or self._is_stale(trial, known):
                yield trial
            else:
                self._finished += 1

    def _stands(self, suite: str, case: Case, target: str) -> bool:
        """Whether a case is one of the most: it was asked once and graded by an expected text, and
        all of it is as it was. It counts as finished then."""
        hashes = hash_plain_case(case)
        if hashes is None:
            return False
        known = self._index.find(TrialKey(suite, case._data["id"], target, 1))
        if known is None or not known.answered or known.verdict == "skipped":
            return False
        if (known.repeats, known.pass_rate, self._index.last_repeat) != (1, 1.0, 1):
            return False
        if (known.question, known.grading) != tuple(map(mark_of, hashes)):
            return False
        self._standing += 1
        return True

    def _is_stale(self, trial: Trial, known: FinishedTrial) -> bool:
        """Whether the result of a trial counts no more."""
        if self._must_ask(trial, known):
            return True
        if self._must_grade(trial, known) or self._is_decided_otherwise(trial, known):
            self._regrading[trial.key] = known
            return True
        return False

    def _planned(self, name: str, engine: Engine, stands: Says | None = None) -> Iterator[Trial]:
        try:
            ordered = self._ordered
            yield from trials_of(self._plan, name, stands) if ordered is None else ordered[name]
        except ConfigError as error:
            engine.stop(str(error))
        except SuiteError as error:
            engine.stop(f"a suite changed while it was run: {error.problems[0]}")

    def _must_ask(self, trial: Trial, known: FinishedTrial) -> bool:
        if known.verdict == "skipped":
            if not trial.case.skip:
                self._plan.tell(f"case {trial.case.id} is no longer skipped")
            return not trial.case.skip
        if known.question != mark_of(self._trials.hash_question(trial)):
            self._plan.tell(f"case {trial.case.id} changed since it was run: running it again")
            return True
        return known.verdict in self._again and not known.answered

    def _must_grade(self, trial: Trial, known: FinishedTrial) -> bool:
        if not known.answered:
            return False
        changed = known.grading != mark_of(self._trials.hash_grading(trial.case))
        if changed:
            self._anew.begin(_GRADED_BY)
        return changed or known.verdict in self._again

    def _is_decided_otherwise(self, trial: Trial, known: FinishedTrial) -> bool:
        """Whether the case is decided by another number of trials, or another share, than then."""
        decided_by = trial.repeats, trial.case.pass_rate
        changed = known.verdict != "skipped" and (known.repeats, known.pass_rate) != decided_by
        if changed:
            self._anew.begin(_DECIDED_BY)
        return changed
