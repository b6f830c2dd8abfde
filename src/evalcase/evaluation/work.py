"""What is left of a plan, done: which trials have no result yet, each of them run and kept."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from functools import cached_property

from evalcase.errors import ConfigError, SuiteError
from evalcase.evaluation.about import say_broken, say_gone, say_nothing_left, say_without_result
from evalcase.evaluation.job import Job
from evalcase.evaluation.judges import OpenAll, open_before
from evalcase.evaluation.new_grading import NewGrading
from evalcase.evaluation.plan import Plan, trials_of
from evalcase.evaluation.standing import count_planned, find_later, is_settled, note_basis
from evalcase.evaluation.trials import Trials
from evalcase.runner.conversation import UnaskedTurnsError
from evalcase.runner.hashes import hash_plain_case
from evalcase.runner.plan import Says
from evalcase.runner.schedule import Engine
from evalcase.store.folder import Run
from evalcase.store.index import FinishedTrial, Index, read_index
from evalcase.store.reader import open_journal_file
from evalcase.store.rows import End, Status, TalkRow, TargetRow
from evalcase.store.writer import RunWriter
from evalcase.types.case import Case
from evalcase.types.question import TrialKey
from evalcase.types.result import Result, Totals, Trial, Verdict
from evalcase.types.target import TargetVersion
from evalcase.types.value import replace
from evalcase.util.table import mark_of

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
        from evalcase.evaluation.batches import BatchPhase

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
        from evalcase.store.reader import read_result_at

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
