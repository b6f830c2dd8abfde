"""The one place where a grader is called: what comes out is a grade, never a raise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isawaitable
from typing import NamedTuple

from evalcase.errors import EvalcaseError
from evalcase.grade.asked import Asking
from evalcase.grade.checked import check_score
from evalcase.grade.decided import PartScores, grade_of, grade_of_parts
from evalcase.grade.parts import look_at_answer
from evalcase.grade.score import decide_verdict
from evalcase.types.answer import Failure
from evalcase.types.case import Case
from evalcase.types.grade import Grade, Score
from evalcase.types.grader import BOTH, NEITHER, Context, Half, NamedGrader
from evalcase.types.result import GRADER_TIMEOUT_S, Verdict
from evalcase.types.value import replace
from evalcase.util.answers import expected_halves
from evalcase.util.errors import failure_of, tell_error
from evalcase.util.user_calls import CallOutcome, UserCalls


class Graded(NamedTuple):
    verdict: Verdict
    grades: tuple[Grade, ...]


def left_to_compare(case: Case, graders: Sequence[NamedGrader]) -> frozenset[Half]:
    """What the built-in comparison has to be added for, so that nothing expected goes unchecked."""
    if case.needs_judge or not case.expects_output:
        return NEITHER
    compared = NEITHER.union(*[grader.compared for grader in graders])
    if not compared or compared == BOTH:
        return BOTH - compared
    return expected_halves(case._data["expected_output"]) - compared


async def grade_answer(
    context: Context, graders: Sequence[NamedGrader], calls: UserCalls,
    timeout_s: float = GRADER_TIMEOUT_S, *, only_these: bool = False,
) -> Graded:  # fmt: skip
    """The verdict on an answer, with the grade of every grader, in their order.

    With `only_these`, they take the place of all that the case says. Those that have to be
    waited for are waited for together, each for its own time.
    """
    if len(graders) == 1 and graders[0].grader.kind.compares_expected:
        only = _begin_grade(graders[0], context, (), calls, timeout_s)
        if isinstance(only, _Begun):
            only = await only.finish(calls, context.case.id)
        grades: tuple[Grade, ...] = (only,)
    else:
        grades = await _grade_each(context, graders, calls, timeout_s)
    if context.case.needs_judge and not only_these and not any(each.judges for each in graders):
        grades = (*grades, _without_judge(context.case))
    return Graded(decide_verdict(grades, context.case.threshold), grades)


class _Begun(NamedTuple):
    """A grader that has to be waited for."""

    named: NamedGrader
    call: Callable[[], object]
    asking: Asking | None
    limit_s: float

    async def finish(self, calls: UserCalls, name: str) -> Grade:
        """The grade, or that the grader broke: it may raise anything."""
        queue = None if self.asking is None else self.asking.queue
        outcome = await calls.run(self.call, self.limit_s, name, _check_outcome, queue)
        grade = self._grade(outcome)
        return self.asking.put_on(grade) if self.asking is not None else grade

    def _grade(self, outcome: CallOutcome) -> Grade:
        error = outcome.error
        if outcome.is_late:
            error = EvalcaseError(f"returned no grade within {self.limit_s:g} s")
        if error is not None:
            return _make_broken_grade(self.named, error)
        return _grade_checked(self.named, outcome.value)


async def _grade_each(
    context: Context, graders: Sequence[NamedGrader], calls: UserCalls, timeout_s: float
) -> tuple[Grade, ...]:
    grades: list[Grade | None] = []
    waiting: dict[int, _Begun] = {}
    for number, named in enumerate(graders):
        if waiting and named.grader.reads_grades():
            await _wait_for_grades(waiting, grades, context, calls)
        known = tuple([grade for grade in grades if grade is not None]) if grades else ()
        begun = _begin_grade(named, context, known, calls, timeout_s)
        if isinstance(begun, Grade):
            grades.append(begun)
        else:
            grades.append(None)
            waiting[number] = begun
    if waiting:
        await _wait_for_grades(waiting, grades, context, calls)
    return tuple([grade for grade in grades if grade is not None])


async def _wait_for_grades(
    waiting: dict[int, _Begun], grades: list[Grade | None], context: Context, calls: UserCalls
) -> None:
    """Put the grades of those that are waited for into their places, and wait for none then."""
    begun = [each.finish(calls, context.case.id) for each in waiting.values()]
    finished = await asyncio.gather(*begun) if len(begun) > 1 else [await begun[0]]
    for number, grade in zip(waiting, finished, strict=True):
        grades[number] = grade
    waiting.clear()


def _begin_grade(
    named: NamedGrader, context: Context, known: tuple[Grade, ...], calls: UserCalls,
    timeout_s: float,
) -> Grade | _Begun:  # fmt: skip
    """The grade, if it is there at once."""
    asking = None
    if context.asker is not None:
        asking = Asking(context.asker)
        context = replace(context, grades=known, asker=asking.ask)
    elif known:
        context = replace(context, grades=known)
    limit_s = named.timeout_s or timeout_s
    if named.grader.kind.combines:
        below = partial(_grade_each, context, calls=calls, timeout_s=timeout_s)
        context = replace(context, grading=below)
        limit_s = _find_limit(named, timeout_s)
    if named.grader.kind.only_reads:
        outcome = _look(named, context)
    else:  # it is of another package, and may do anything
        with calls.attend(limit_s):
            outcome = _look(named, context.copy())
    return (
        outcome if isinstance(outcome, Grade) else _Begun(named, lambda: outcome, asking, limit_s)
    )


def _find_limit(named: NamedGrader, timeout_s: float) -> float:
    """How long a grader may take. One that is made of others, and has no limit of its own, may take
    all that they may: each of them is given up at its own."""
    if named.timeout_s is not None:
        return named.timeout_s
    return timeout_s + sum(_find_limit(each, timeout_s) for each in named.grader.inner())


def _look(named: NamedGrader, context: Context) -> Grade | Awaitable[object]:
    try:
        outcome: object = look_at_answer(named, context)
        if type(outcome) is not Score and isawaitable(outcome):
            return outcome
        return _grade_checked(named, _check_outcome(outcome))
    except BaseException as error:  # noqa: BLE001 - the boundary: a grader may raise anything
        return _make_broken_grade(named, tell_error(error))


def _check_outcome(outcome: object) -> Score | PartScores:
    return outcome if type(outcome) is PartScores else check_score(outcome)


def _grade_checked(named: NamedGrader, outcome: object) -> Grade:
    if isinstance(outcome, PartScores):
        return grade_of_parts(named, outcome)
    assert isinstance(outcome, Score)
    return grade_of(named, outcome)


def _without_judge(case: Case) -> Grade:
    """A case that only a judge can grade is never passed by the others alone."""
    what = "`criteria`" if case.criteria is not None else "`rubrics`"
    message = f"{what} can only be graded by a judge, and none is configured"
    return Grade("judge", None, False, message, failure=Failure("grader", message))


def _make_broken_grade(named: NamedGrader, error: BaseException) -> Grade:
    failure = failure_of(error, "grader")
    reason = failure.message
    return Grade(named.name, None, False, reason, {}, named.weight, named.required, failure)
