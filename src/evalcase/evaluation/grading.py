"""Answers that are kept, graded again: by the suites as they are now, as they were, or by others.

No target is asked; judges are. What was graded before stays beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import NamedTuple

from evalcase.errors import ConfigError
from evalcase.evaluation.job import Job
from evalcase.evaluation.plan import Plan
from evalcase.evaluation.trials import Trials
from evalcase.format.collection import SomeSuites
from evalcase.runner.conversation import UnaskedTurnsError
from evalcase.runner.schedule import Engine
from evalcase.store.folder import Run
from evalcase.store.index import Index
from evalcase.store.rows import End, GradingRow, Status
from evalcase.store.stored import StoredRun
from evalcase.store.writer import RunWriter
from evalcase.types.answer import Failure
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.question import TrialKey
from evalcase.types.result import Result, Totals, Trial
from evalcase.types.value import replace
from evalcase.util.table import mark_of
from evalcase.util.text import list_some, write_count

FindNewCase = Callable[[str, str], Case | None]
"""The case of a suite and an id, by which its answers are graded; None where it is gone."""
_MOST_NAMED = 5


class By(NamedTuple):
    """What answers are graded by."""

    find: FindNewCase
    graders: tuple[str, ...] = ()
    """Those that were named in place of what cases say."""
    recorded: bool = False
    """Whether the cases are those of the record."""
    suites: dict[str, str] | None = None
    """The hashes of the files that they come from, where they come from files."""
    cases_of: int | None = None
    """Of which grading the cases of the record are."""
    others: bool = False
    """Whether the suites are others than those of the run."""

    def begin(self, number: int, at: str) -> GradingRow:
        """That answers are graded by this from now on."""
        return GradingRow(
            number, at, "grade", self.suites, self.graders, self.recorded, self.cases_of,
            self.others,
        )  # fmt: skip

    def goes_on(self, broken: GradingRow | None) -> bool:
        """Whether a grading that was broken off was by the same."""
        if broken is None or broken.origin != "grade":
            return False
        return _basis_of_grading(broken) == _basis_of_grading(self)


def _basis_of_grading(by: By | GradingRow) -> tuple[object, ...]:
    """What was typed. What became of the suites since is seen answer by answer, by hashes."""
    named = frozenset(by.suites or ()) if by.others else None
    return by.graders, by.recorded, by.cases_of, named


class Grading(Job):
    """The answers of a run, each graded once more. It takes the place of the work of a run."""

    def __init__(
        self, plan: Plan, run: Run, index: Index, trials: Trials, recording: RunWriter, by: By
    ) -> None:
        self._plan = plan
        self._run = run
        self._index = index
        self._trials = trials
        self._recording = recording
        self._by = by
        self._goes_on = by.goes_on(index.find_interrupted(index.gradings))
        self._number = index.gradings + (not self._goes_on)
        """Which of its gradings the run stands at."""
        self._graded: int | None = None
        """The grading that is brought to its end, once it is."""
        self._was_decided = False
        self._without_case = 0
        self._under_way: dict[TrialKey, Result] = {}

    @property
    def grading(self) -> int:
        return self._number

    async def go(self, engine: Engine) -> tuple[Status, str | None]:
        """Grade them all. The run itself is as complete as it was."""
        before = StoredRun(self._run, index=self._index).before_interrupted().end
        is_decided = before.decision is not None
        self._was_decided = is_decided or before.was_decided or before.failed_fast
        if self._goes_on:
            before_it = self._index.graded_by()
            self._plan.tell(
                f"grading {self._number} was interrupted and continues: {before_it.graded:,} of "
                f"{before_it.answers:,} answers are graded"
            )
        self._recording.note(self._by.begin(self._number, self._plan.environment.stamp()))
        left = {name: self._answers(name) for name in self._plan.trials}
        await engine.run(left, self._grade, self._recording.append_grading)
        if engine.interrupted:
            return "interrupted", None
        if engine.stop_reason is not None:
            return "stopped", engine.stop_reason
        if self._without_case:
            what = write_count(self._without_case, "answer")
            return "stopped", f"{what} can't be graded: the record doesn't have the case"
        self._graded = self._number
        if is_decided:
            return before.status, "it was ended by a decision on an earlier grading"
        return before.status, before.notice

    def totals(self) -> Totals | None:
        """Only the journal can say: each grading takes the place of another."""
        return None

    def mixed(self) -> tuple[str, ...]:
        return self._index.mixed()

    def complete_end(self, end: End) -> End:
        """No suite says how many answers there are, and only the journal how many errored."""
        trials = len(self._index) if end.status == "completed" else None
        return replace(end, was_decided=self._was_decided, graded=self._graded, trials=trials)

    def _answers(self, target: str) -> Iterator[Trial]:
        numbers: dict[tuple[str, str], int] = {}
        for result in self._index.results():
            suite, id, asked, repeat = result.key
            number = numbers.setdefault((suite, id), len(numbers))
            if asked != target or result.answer is None:
                continue
            case = self._by.find(suite, id)
            if case is None:
                self._without_case += 1
            elif not (self._goes_on and self._is_graded(result.key, case)):
                self._under_way[result.key] = result
                yield Trial(suite, case, target, repeat, result.repeats, number)

    def _is_graded(self, key: TrialKey, case: Case) -> bool:
        """Whether this grading has graded an answer before it was broken off, by the same."""
        known = self._index.find(key)
        by = mark_of(self._trials.hash_grading(case))
        return known is not None and (known.graded_in, known.grading) == (self._number, by)

    async def _grade(self, trial: Trial) -> Result:
        known = self._under_way.pop(trial.key)
        if known.answer is not None and known.answer.scrubbed:
            # It is not what was answered: no verdict on it could be trusted, least of all that of
            # a grader which looks for leaks.
            why = "the answer was recorded without a secret that was in it"
            return self._refuse(trial, known, why)
        try:
            return await self._trials.regrade(trial, known, self._number)
        except UnaskedTurnsError:
            why = "it ended at a turn that failed then, and those after it were never asked"
            return self._refuse(trial, known, why)

    def _refuse(self, trial: Trial, known: Result, why: str) -> Result:
        """No verdict, since none on the answer that there is would hold."""
        why = f"{why}: run the case again"
        broken = Grade("record", None, False, why, failure=Failure("grader", why))
        return replace(
            known, verdict="errored", grades=(broken,), grading=self._number,
            grading_hash=self._trials.hash_grading(trial.case),
            repeats=trial.repeats, pass_rate=trial.case.pass_rate,
        )  # fmt: skip


def cases_by_name(suites: SomeSuites) -> dict[tuple[str, str], Case]:
    """The cases of suites as they are now, by suite and id."""
    return {(suite, case.id): case for suite, case in suites}


def cases_by_id(suites: SomeSuites) -> dict[str, Case]:
    """The same for suites that take the place of others: by id alone. Raise ConfigError if two
    have the same."""
    found: dict[str, Case] = {}
    for suite, case in suites:
        if case.id in found:
            raise ConfigError(f"two cases have the id `{case.id}`, the second in {suite}")
        found[case.id] = case
    return found


def require_cases(
    kept: StoredRun, find: FindNewCase, is_same: Callable[[Result, Case], bool]
) -> None:
    """Raise ConfigError if answers can't be graded: their case is gone, or asks something else."""
    gone: dict[str, None] = {}
    changed: dict[str, None] = {}
    for result in kept.results():
        suite, id = result.key[:2]
        case = find(suite, id)
        if case is None:
            gone[f"{suite}: {id}"] = None
        elif result.answer is not None and not is_same(result, case):
            changed[f"{suite}: {id}"] = None
    said = []
    if gone:
        said.append(f"the suites no longer have {_name_some(gone)}")
    if changed:
        said.append(f"the question has changed in {_name_some(changed)}")
    if said:
        raise ConfigError(f"{'; '.join(said)}. --recorded grades by the stored cases")


def _name_some(names: Collection[str]) -> str:
    return list_some(islice(names, _MOST_NAMED), len(names))
