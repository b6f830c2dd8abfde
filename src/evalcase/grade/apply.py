"""The one place where a grader is called: what comes out is a grade, never a raise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from inspect import isawaitable
from typing import NamedTuple

from evalcase.errors import EvalcaseError
from evalcase.grade.asked import Asking
from evalcase.grade.checked import check_score
from evalcase.grade.parts import look_at
from evalcase.grade.score import decide_verdict
from evalcase.model.case import Case
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade, Score
from evalcase.model.grader import Context, NamedGrader
from evalcase.model.quick_dataclass import replace
from evalcase.model.result import Verdict
from evalcase.system.timer import Timer
from evalcase.text.crash import failure_of

TIMEOUT_S = 120.0
"""How long a grader may take that says nothing else."""


class Graded(NamedTuple):
    verdict: Verdict
    grades: tuple[Grade, ...]


def needs_expected(case: Case, graders: Sequence[NamedGrader]) -> bool:
    """Whether the built-in comparison has to be added, so that nothing expected goes unchecked."""
    if case.needs_judge or not case.expects_output:
        return False
    return not any(grader.compares_expected for grader in graders)


async def grade_answer(
    context: Context, graders: Sequence[NamedGrader], timer: Timer, timeout_s: float = TIMEOUT_S
) -> Graded:
    """The verdict on an answer, with the grade of every grader, in their order.

    Those that have to be waited for are waited for together, each for its own time.
    """
    if len(graders) == 1 and graders[0].grader.kind.compares_expected:
        only = _begin(graders[0], context, (), timer, timeout_s)
        if isinstance(only, Grade):
            return Graded(decide_verdict((only,), context.case.threshold), (only,))
    grades = await _grade_each(context, graders, timer, timeout_s)
    if context.case.needs_judge and not any(named.judges for named in graders):
        grades = (*grades, _without_judge(context.case))
    return Graded(decide_verdict(grades, context.case.threshold), grades)


async def _grade_each(
    context: Context, graders: Sequence[NamedGrader], timer: Timer, timeout_s: float
) -> tuple[Grade, ...]:
    grades: list[Grade | None] = []
    waiting: dict[int, Awaitable[Grade]] = {}
    for number, named in enumerate(graders):
        known = tuple([grade for grade in grades if grade is not None]) if grades else ()
        begun = _begin(named, context, known, timer, timeout_s)
        if isinstance(begun, Grade):
            grades.append(begun)
        else:
            grades.append(None)
            waiting[number] = begun
    if len(waiting) == 1:
        ((number, awaited),) = waiting.items()
        grades[number] = await awaited
    elif waiting:
        several = await asyncio.gather(*waiting.values())
        for number, grade in zip(waiting, several, strict=True):
            grades[number] = grade
    return tuple([grade for grade in grades if grade is not None])


def _begin(
    named: NamedGrader, context: Context, known: tuple[Grade, ...], timer: Timer, timeout_s: float
) -> Grade | Awaitable[Grade]:
    """The grade, if it is there at once."""
    asking = None
    if context.asker is not None and not named.grader.kind.compares_expected:
        asking = Asking(context.asker)
        context = replace(context, grades=known, asker=asking.ask)
    if named.grader.kind.combines:
        below = partial(_grade_each, context, timer=timer, timeout_s=timeout_s)
        context = replace(context, grading=below)
    try:
        outcome: object = look_at(named, context)
        if isinstance(outcome, Score):
            return grade_of(named, check_score(outcome))
        if not isawaitable(outcome):
            check_score(outcome)
        assert isawaitable(outcome)
    except BaseException as error:  # noqa: BLE001 - the boundary: a grader may raise anything
        return _broken(named, failure_of(error, "grader"))
    return _wait(named, outcome, asking, timer, named.timeout_s or timeout_s)


async def _wait(
    named: NamedGrader,
    outcome: Awaitable[object],
    asking: Asking | None,
    timer: Timer,
    timeout_s: float,
) -> Grade:
    limit = timer.limit(timeout_s)
    try:
        with limit:
            score = check_score(await outcome)
        grade = grade_of(named, score)
    except BaseException as error:
        # It may raise anything, also what would end the engine: only a person may do that. But
        # when this trial is being given up, what comes is not the grader's.
        if _is_given_up() or isinstance(error, GeneratorExit):
            raise
        if isinstance(error, TimeoutError) and limit.expired:
            error = EvalcaseError(f"gave no grade within {timeout_s:g} s")
        grade = _broken(named, failure_of(error, "grader"))
    return asking.put_on(grade) if asking is not None else grade


def _is_given_up() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def grade_of(named: NamedGrader, score: Score) -> Grade:
    value, passed, by_threshold = score.value, score.passed, False
    if value is None:
        passed = False
    elif passed is None:
        passed, by_threshold = value >= named.threshold, True
    if named.negated and value is not None:
        value, passed, by_threshold = 1.0 - value, not passed, False
    reason = _reason(named, value, passed, score.reason, by_threshold)
    if named.negated and not passed and value is not None:
        reason = f"{reason}; with `not: true` that fails"
    return Grade(named.name, value, passed, reason, score.details, named.weight, named.required)


def _reason(
    named: NamedGrader, value: float | None, passed: bool, reason: str, by_threshold: bool
) -> str:
    """Why, with the arithmetic where a part of the score was not enough. A comparison says itself
    what is missing."""
    is_clear = passed or not value or named.grader.kind.compares_expected
    if value is None or (reason and is_clear):
        return reason
    told = f"scored {value:g}"
    if by_threshold and not passed:
        told = f"{told}, and {named.threshold:g} passes"
    return f"{reason} ({told})" if reason else told


def _without_judge(case: Case) -> Grade:
    """A case that only a judge can grade is never passed by the others alone."""
    what = "`criteria`" if case.criteria is not None else "`rubrics`"
    message = f"{what} can be graded by a judge only, and none is configured"
    return Grade("judge", None, False, message, failure=Failure("grader", message))


def _broken(named: NamedGrader, failure: Failure) -> Grade:
    reason = failure.message
    return Grade(named.name, None, False, reason, {}, named.weight, named.required, failure)
