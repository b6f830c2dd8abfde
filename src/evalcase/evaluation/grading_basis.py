"""What kept answers are graded by, as somebody says it, to the request, the plan and the cases of a
grading: the suites as they are now, others, or the cases that the record holds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalcase.config.graders import canonical_graders, make_grader
from evalcase.config.options import RunOptions, Selection
from evalcase.errors import ConfigError, RecordError, SuiteError
from evalcase.evaluation.grading import By, cases_by_id, cases_by_name, require_cases
from evalcase.evaluation.plan import Given, Plan
from evalcase.evaluation.request import RunRequest
from evalcase.format.collection import HeldSuites, SomeSuites
from evalcase.runner.hashes import hash_question
from evalcase.store.folder import Run
from evalcase.store.rows import GradingRow
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.result import Result
from evalcase.types.suite import Suite
from evalcase.types.value import JSON, replace

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
