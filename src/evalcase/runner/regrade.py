"""Stored answers graded again: by the suites as they are now, by other suites, or by the cases that
the record holds. No target is asked; judges are. Earlier gradings stay beside it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from evalcase.config.graders import canonical_graders, make_grader
from evalcase.config.options import RunOptions, Selection
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.format.document import parse_document
from evalcase.runner.grading import UnaskedTurnsError
from evalcase.runner.hashes import hash_question
from evalcase.runner.plan import Given, Plan, RunRequest
from evalcase.runner.schedule import Engine
from evalcase.runner.suites import HeldSuites, SomeSuites
from evalcase.runner.trials import Trials
from evalcase.store.folder import Run
from evalcase.store.index import Index
from evalcase.store.journal import RunWriter
from evalcase.store.rows import Basis, End, GradingRow
from evalcase.store.stored import StoredRun
from evalcase.types.answer import Failure
from evalcase.types.case import Case, Suite
from evalcase.types.grade import Grade
from evalcase.types.result import Result, Trial
from evalcase.types.target import TrialKey
from evalcase.types.value import JSON, replace
from evalcase.util.environment import stamp
from evalcase.util.text import list_some, write_count

_MOST_NAMED = 5
_SCRUBBED = "the answer was recorded without a secret that was in it"
_UNASKED = "it ended at a turn that failed then, and those after it were never asked"


class By(NamedTuple):
    """What answers are graded by."""

    find: Callable[[str, str], Case | None]
    """The case of a suite and an id; None where it is gone."""
    row: GradingRow
    """What the record will say, but for its number and time."""

    def resumes(self, interrupted: GradingRow | None) -> bool:
        """Whether an interrupted grading was by the same. Hashes show for each answer whether its
        suite has changed since."""
        if interrupted is None or interrupted.origin != "grade":
            return False
        return _describe_request(interrupted) == _describe_request(self.row)

    def begin(
        self, plan: Plan, record: Run, index: Index, trials: Trials, writer: RunWriter
    ) -> Regrading:
        return Regrading(plan, record, index, trials, writer, self)

    def keep_cases(self, basis: Basis, run: Run) -> Basis:
        """The basis of verdicts, with the suites that the cases of the record come from."""
        cases = StoredRun(run, self.row.cases_of).basis
        return replace(basis, suites=cases.suites, dealt=cases.dealt)


def _describe_request(row: GradingRow) -> tuple[object, ...]:
    named = frozenset(row.suites or ()) if row.others else None
    return row.graders, row.recorded, row.cases_of, named


class Regrading:
    """The stored answers of a run that are left to grade."""

    def __init__(
        self, plan: Plan, record: Run, index: Index, trials: Trials, writer: RunWriter, by: By
    ) -> None:
        self._plan = plan
        self._index = index
        self._trials = trials
        self._writer = writer
        self._by = by
        self._resumes = by.resumes(index.find_interrupted(index.gradings))
        self.grading = index.gradings + (not self._resumes)
        """The number of this grading."""
        self._before = StoredRun(record, index=index).before_interrupted().end
        self._without_case = 0
        self._answers: dict[TrialKey, Result] = {}
        """Of the trials that are graded just now."""
        if self._resumes:
            so_far = index.graded_by()
            plan.note(
                f"grading {self.grading} was interrupted and continues: {so_far.graded:,} of "
                f"{so_far.answers:,} answers are graded"
            )
        writer.note(replace(by.row, number=self.grading, at=stamp()))

    def left(self, target: str, engine: Engine) -> Iterator[Trial]:
        del engine
        numbers: dict[tuple[str, str], int] = {}
        for result in self._index.results():
            suite, id, asked, repeat = result.key
            number = numbers.setdefault((suite, id), len(numbers))
            if asked != target or result.answer is None:
                continue
            case = self._by.find(suite, id)
            if case is None:
                self._without_case += 1
            elif not (self._resumes and self._is_graded(result.key, case)):
                self._answers[result.key] = result
                yield Trial(suite, case, target, repeat, result.repeats, number)

    def _is_graded(self, key: TrialKey, case: Case) -> bool:
        """Whether this grading graded an answer before it was interrupted, by the same case."""
        known, by = self._index.find(key), hash(self._trials.hash_grading(case, key.suite))
        return known is not None and (known.graded_in, known.grading) == (self.grading, by)

    async def find_result(self, trial: Trial) -> Result:
        known = self._answers.pop(trial.key)
        if known.answer is not None and known.answer.scrubbed:
            return self._refuse(trial, known, _SCRUBBED)
        try:
            return await self._trials.regrade(trial, known, self.grading)
        except UnaskedTurnsError:
            return self._refuse(trial, known, _UNASKED)

    def _refuse(self, trial: Trial, known: Result, why: str) -> Result:
        """No verdict, since none on the stored answer would hold."""
        why = f"{why}: run the case again"
        broken = Grade("record", None, False, why, failure=Failure("grader", why))
        return replace(
            known, verdict="errored", grades=(broken,), grading=self.grading,
            grading_hash=self._trials.hash_grading(trial.case, trial.suite),
            repeats=trial.repeats, pass_rate=trial.case.pass_rate,
        )  # fmt: skip

    def store(self, trial: Trial, result: Result) -> Awaitable[None]:
        return self._writer.append(trial, result, is_graded_again=True)

    def find_end(self, engine: Engine) -> End:
        """How the grading ended. If all answers are graded, the run is as complete as before."""
        before = self._before
        is_decided = before.decision is not None
        was_decided = is_decided or before.was_decided or before.failed_fast
        if engine.interrupted:
            return End("interrupted", was_decided=was_decided)
        why = engine.stop_reason
        if why is None and self._without_case:
            what = write_count(self._without_case, "answer")
            why = f"{what} can't be graded: the record doesn't have the case"
        if why is not None:
            return End("stopped", why, was_decided=was_decided)
        notice = "it was ended by a decision on an earlier grading" if is_decided else before.notice
        trials = len(self._index) if before.status == "completed" else None
        return End(
            before.status, notice, was_decided=was_decided, graded=self.grading, trials=trials
        )

    def totals(self) -> None:
        """Only the journal can count: this grading replaces another."""

    def mixed(self) -> tuple[str, ...]:
        return self._index.mixed()


# What `evalcase grade` asks for, made into a plan


class GradingBasis(NamedTuple):
    """What answers are graded by, as a person says it."""

    options: RunOptions
    suites: tuple[str, ...]
    """Paths of suites; none for those of the run."""
    graders: tuple[str, ...]
    """Graders that replace those of cases."""
    recorded: bool
    """Whether the cases are those of the record."""

    @property
    def is_as_now(self) -> bool:
        return not (self.suites or self.recorded)

    def of_stranger(self) -> GradingBasis:
        """The same for a record by somebody else: only its answers are used. Its graders may run
        code, its paths may lead anywhere, and its gates don't count."""
        return self._replace(options=RunOptions(), recorded=not self.suites)


def open_graded(run: Run, grading: int | None) -> StoredRun:
    """A run at its newest complete grading, or at the one that is named."""
    stored = StoredRun(run, grading)
    if grading is None:
        return stored.before_interrupted()
    stored.refuse_interrupted()
    return stored


def basis_of_broken(run: Run, broken: GradingRow, options: RunOptions) -> GradingBasis:
    """What an interrupted grading was by. Raise ConfigError if the record doesn't say."""
    if broken.others:
        raise ConfigError(
            f"grading {broken.number} of run {run.id} was interrupted, and used other suites: "
            "the same `evalcase grade` with --suite finishes it; without it, all is graded again"
        )
    return GradingBasis(options, (), broken.graders, recorded=broken.recorded)


def parse_graders(texts: Sequence[str]) -> list[dict[str, JSON]]:
    """Graders as a person typed them, in any of their forms. Raise SuiteError."""
    specs: list[dict[str, JSON]] = []
    for text in texts:
        document = parse_document(text, "yaml", "--grader")
        if not document.readable:
            raise SuiteError(document.problems)
        specs += canonical_graders([document.value])
    return specs


def recorded_suites(stored: StoredRun) -> SomeSuites:
    """The suites of a run as its record holds them."""
    cases: dict[str, dict[str, Case]] = {}
    for result in stored.results():
        suite, id = result.key[:2]
        known = cases.setdefault(suite, {})
        case = stored.find_case(suite, id) if id not in known else None
        if case is not None:
            _check_graders(case, stored)
            known[id] = case
    return HeldSuites(
        Suite(suite, {"name": suite}, tuple(known.values())) for suite, known in cases.items()
    )


def _check_graders(case: Case, stored: StoredRun) -> None:
    """Raise RecordError if a record has graders in a form that evalcase never writes."""
    for part in case.graded_parts:
        try:
            canonical_graders(part._data.get("graders", []))
        except SuiteError as error:
            problem = error.problems[0].message
            raise RecordError(
                f"{stored.run.journal}: case `{case.id}` can't be graded by its graders: {problem}"
            ) from None


def request_grading(
    request: RunRequest, stored: StoredRun, basis: GradingBasis, held: SomeSuites | None
) -> RunRequest:
    """A request to grade the answers of a run once more. `held` are the suites as the record has
    them, where it is graded by those."""
    graders = [make_grader(spec, request.config) for spec in parse_graders(basis.graders)]
    given = Given(held, graders=graders, only_graders=bool(graders), only_answers=True)
    options = replace(basis.options, targets=tuple(stored.index.count_answers()))
    if basis.suites:
        paths = tuple(os.path.abspath(path) for path in basis.suites)
        options = replace(options, paths=paths, selection=Selection())
    return replace(request, options=options, given=given, run=stored.run)


def settle_grading(plan: Plan, stored: StoredRun, basis: GradingBasis) -> tuple[Plan, By]:
    """The plan of just the stored answers, and the cases by which each is graded. Raise ConfigError
    if an answer has no case, or one with another question."""
    trials = {name: count for name, count in stored.index.count_answers().items() if count}
    plan = replace(plan, trials=trials)
    row = GradingRow(1, origin="grade", graders=basis.graders)
    if basis.recorded:
        row = replace(row, recorded=True, cases_of=stored.grading or stored.gradings)
        return plan, By(stored.find_case, row)
    row = replace(row, suites=plan.suites.hashes(), others=bool(basis.suites))
    by = By(_find_cases(plan.suites, basis), row)
    _require_cases(stored, by)
    return plan, by


def _find_cases(suites: SomeSuites, basis: GradingBasis) -> Callable[[str, str], Case | None]:
    """Cases by suite and id; of suites that replace those of the run, by id alone."""
    if not basis.suites:
        by_name = {(suite, case.id): case for suite, case in suites}
        return lambda suite, id: by_name.get((suite, id))
    by_id: dict[str, Case] = {}
    for suite, case in suites:
        if case.id in by_id:
            raise ConfigError(f"two cases have the id `{case.id}`, the second in {suite}")
        by_id[case.id] = case
    return lambda _, id: by_id.get(id)


def _require_cases(stored: StoredRun, by: By) -> None:
    """Raise ConfigError if the case of an answer is gone, or has another question now."""
    wrong: dict[str, dict[str, None]] = {}
    for result in stored.results():
        suite, id = result.key[:2]
        case = by.find(suite, id)
        if case is None:
            wrong.setdefault("the suites no longer have", {})[f"{suite}: {id}"] = None
        elif result.answer is not None and not _has_same_question(result, case, stored):
            wrong.setdefault("the question has changed in", {})[f"{suite}: {id}"] = None
    if wrong:
        said = [
            f"{what} {list_some(islice(names, _MOST_NAMED), len(names))}"
            for what, names in wrong.items()
        ]
        raise ConfigError(f"{'; '.join(said)}. --recorded grades by the stored cases")


def _has_same_question(result: Result, case: Case, stored: StoredRun) -> bool:
    """Attached files are not compared, since they may be gone. The stored hash is of the case with
    its secrets, the stored case is without them."""
    asked = hash_question(case)
    if result.question_hash == asked:
        return True
    before = stored.find_case(result.key.suite, case.id)
    return before is None or hash_question(before) == asked
