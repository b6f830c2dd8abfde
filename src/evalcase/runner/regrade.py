"""Answers that are kept, graded again: by the suites as they are now, as they were, or by others.

No target is asked; judges are. What was graded before stays beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from evalcase.config.graders import canonical_graders, make_grader
from evalcase.config.options import RunOptions, Selection
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.format.load import HeldSuites, SomeSuites
from evalcase.runner.conversation import UnaskedTurnsError
from evalcase.runner.hashes import hash_question
from evalcase.runner.plan import Given, Plan, RunRequest
from evalcase.runner.schedule import Engine, Job
from evalcase.runner.trials import Trials
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
from evalcase.types.suite import Suite
from evalcase.types.value import JSON, replace
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


_STORED = "--recorded grades by the stored cases"


class GradingBasis(NamedTuple):
    """What answers are graded by."""

    options: RunOptions
    suites: tuple[str, ...]
    """Their paths; none for those of the run."""
    graders: tuple[str, ...]
    """In place of what cases say."""
    recorded: bool
    """Whether cases are those that the record holds."""

    @property
    def is_as_now(self) -> bool:
        """Whether it is the suites of the run, as they are now."""
        return not (self.suites or self.recorded)

    def of_stranger(self) -> GradingBasis:
        """The same for a record of somebody else's: what is there to grade is all that is used of
        it. Graders that others wrote down may run code, paths that they wrote may lead anywhere,
        and what they would let pass doesn't count."""
        return self._replace(options=RunOptions(), recorded=not self.suites)

    def with_options(self, options: RunOptions) -> GradingBasis:
        """With what is asked for now. Of a run, a grading neither ends early nor asks a cache."""
        return self._replace(options=replace(options, fail_fast=False, cache=None))


def open_graded(run: Run, grading: int | None) -> StoredRun:
    """A run at a grading that was brought to its end, the newest unless one is named: the cases of
    one that was broken off are those of two."""
    kept = StoredRun(run, grading)
    if grading is None:
        return kept.before_interrupted()
    kept.refuse_interrupted()
    return kept


def basis_of_broken(run: Run, broken: GradingRow, options: RunOptions) -> GradingBasis:
    """What a grading that was broken off was begun by. Raise ConfigError if nobody knows."""
    if broken.others:
        raise ConfigError(
            f"grading {broken.number} of run {run.id} was interrupted, and used other suites: "
            "the same `evalcase grade` with --suite finishes it; without it, all is graded again"
        )
    return GradingBasis(options, (), broken.graders, recorded=broken.recorded)


def require_paths(basis: GradingBasis) -> None:
    """Raise ConfigError if suites of the run, by which it is graded, are gone."""
    paths = basis.options.paths if basis.is_as_now else ()
    gone = [path for path in paths if not os.path.exists(path)]
    if gone:
        raise ConfigError(f"{gone[0]} no longer exists. {_STORED}")


def explain_empty(error: SuiteError, basis: GradingBasis) -> Exception:
    """What to raise for a plan that can't be made: if the folder of a run has no suites any more,
    what is left to grade by."""
    empty = [each.path for each in error.problems if each.code == "no-suites"]
    if not basis.is_as_now or not empty:
        return error
    return ConfigError(f"{empty[0]} no longer has eval files. {_STORED}")


def request_grading(
    request: RunRequest, kept: StoredRun, basis: GradingBasis, held: SomeSuites | None
) -> RunRequest:
    """A request for the answers of a run, each graded once more. `held` are the suites as the
    record has them, where it is graded by those."""
    specs = parse_graders(basis.graders)
    graders = [make_grader(spec, request.config) for spec in specs]
    given = Given(held, graders=graders, only_graders=bool(basis.graders), only_answers=True)
    options = _narrow_options(basis, kept.count_answers())
    return replace(request, options=options, given=given, run=kept.run)


def settle_grading(plan: Plan, kept: StoredRun, basis: GradingBasis) -> tuple[Plan, By]:
    """The plan of just the answers that there are, and the cases by which each is graded. Raise
    ConfigError if one has none, or one that asks something else."""
    by = _graded_by(plan, kept, basis)
    trials = {name: count for name, count in kept.count_answers().items() if count}
    return replace(plan, trials=trials), by


def parse_graders(texts: Sequence[str]) -> list[dict[str, JSON]]:
    """Graders as somebody typed them, in any of their spellings. Raise SuiteError."""
    from evalcase.format.document import parse_document

    specs: list[dict[str, JSON]] = []
    for text in texts:
        document = parse_document(text.encode(), "yaml", "--grader")
        if not document.readable:
            raise SuiteError(document.problems)
        specs += canonical_graders([document.value])
    return specs


def recorded_suites(kept: StoredRun) -> SomeSuites:
    """The suites of a run as its record holds them."""
    cases: dict[str, dict[str, Case]] = {}
    for result in kept.results():
        suite, id = result.key[:2]
        known = cases.setdefault(suite, {})
        if id not in known:
            case = kept.find_case(suite, id)
            if case is not None:
                _check_graders(case, kept)
                known[id] = case
    return HeldSuites(
        Suite(suite, {"name": suite}, tuple(known.values())) for suite, known in cases.items()
    )


def _narrow_options(basis: GradingBasis, answers: Mapping[str, int]) -> RunOptions:
    """The options for the targets that there are answers of, and for the suites that are named."""
    options = replace(basis.options, targets=tuple(answers))
    if not basis.suites:
        return options
    paths = tuple(os.path.abspath(path) for path in basis.suites)
    return replace(options, paths=paths, selection=Selection())


def _check_graders(case: Case, kept: StoredRun) -> None:
    """Raise RecordError if a record names graders in a way in which evalcase never wrote them."""
    for part in case.graded_parts:
        try:
            canonical_graders(part._data.get("graders", []))
        except SuiteError as error:
            problem = error.problems[0].message
            raise RecordError(
                f"{kept.run.journal}: case `{case.id}` can't be graded by its graders: {problem}"
            ) from None


def _graded_by(plan: Plan, kept: StoredRun, basis: GradingBasis) -> By:
    if basis.recorded:
        cases_of = kept.grading or kept.gradings
        return By(kept.find_case, basis.graders, recorded=True, cases_of=cases_of)
    hashes = plan.suites.hashes()
    if basis.suites:
        by_ids = cases_by_id(plan.suites)
        by = By(lambda _, id: by_ids.get(id), basis.graders, suites=hashes, others=True)
    else:
        by_names = cases_by_name(plan.suites)
        by = By(lambda suite, id: by_names.get((suite, id)), basis.graders, suites=hashes)
    require_cases(kept, by.find, lambda result, case: _asks_same(result, case, kept))
    return by


def _asks_same(result: Result, case: Case, kept: StoredRun) -> bool:
    """Whether a case asks what was asked; files that it names aside, which may be gone.

    The hash is of the case as it was, the record has it without its secrets.
    """
    asked = hash_question(case)
    if result.question_hash == asked:
        return True
    before = kept.find_case(result.key.suite, case.id)
    return before is None or hash_question(before) == asked
