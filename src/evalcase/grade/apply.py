"""The one place where a grader is called: what comes out is a grade, never a raise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from inspect import isawaitable
from traceback import TracebackException
from typing import TYPE_CHECKING

from evalcase.errors import EvalcaseError
from evalcase.grade.checked import checked
from evalcase.grade.score import decide_verdict
from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.result import Verdict
from evalcase.model.trial import Trial

if TYPE_CHECKING:
    from evalcase.graders import NamedGrader

TIMEOUT_S = 120.0

_LONGEST_MESSAGE = 2000
_TRACEBACK_LINES = 20


def needs_expected(case: Case, graders: Sequence[NamedGrader]) -> bool:
    """Whether the built-in comparison has to be added, so that nothing expected goes unchecked."""
    if case.needs_judge or not case.expects_output:
        return False
    return not any(grader.compares_expected for grader in graders)


async def grade_answer(
    trial: Trial, answer: Answer, graders: Sequence[NamedGrader], timeout_s: float = TIMEOUT_S
) -> tuple[Verdict, tuple[Grade, ...]]:
    """The verdict on an answer, with the grade of every grader, in their order.

    A grader that has to be waited for gets `timeout_s`.
    """
    grades = [await _apply(grader, trial, answer, timeout_s) for grader in graders]
    if trial.case.needs_judge and not any(grader.judges for grader in graders):
        grades.append(_without_judge(trial.case))
    return decide_verdict(grades, trial.case.threshold), tuple(grades)


async def _apply(named: NamedGrader, trial: Trial, answer: Answer, timeout_s: float) -> Grade:
    try:
        outcome: object = named.grader.grade(trial, answer)
        if not isinstance(outcome, Grade) and isawaitable(outcome):
            outcome = await _wait_for(outcome, timeout_s)
        return _named(named, checked(outcome))
    except BaseException as error:
        # It may raise anything, also what would end the engine: only a person may do that. But
        # when this trial is being given up, what comes is not the grader's.
        if _is_given_up() or isinstance(error, GeneratorExit):
            raise
        return _broken(named, _failure(error))


def _is_given_up() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def _wait_for(outcome: Awaitable[object], timeout_s: float) -> object:
    try:
        async with asyncio.timeout(timeout_s) as limit:
            return await outcome
    except TimeoutError:
        if limit.expired():
            raise EvalcaseError(f"gave no grade within {timeout_s:g} s") from None
        raise


def _named(named: NamedGrader, grade: Grade) -> Grade:
    said = named.name, named.weight, named.required
    if said == (grade.grader, grade.weight, grade.required):
        return grade
    return Grade(
        named.name, grade.score, grade.passed, grade.reason, grade.details,
        named.weight, named.required, grade.failure,
    )  # fmt: skip


def _broken(named: NamedGrader, failure: Failure) -> Grade:
    reason = failure.message
    return Grade(named.name, None, False, reason, {}, named.weight, named.required, failure)


def _failure(error: BaseException) -> Failure:
    """What is known about a crash. An exception may not even be able to say what it is."""
    told = TracebackException.from_exception(error)
    text = str(told)[:_LONGEST_MESSAGE]
    if isinstance(error, EvalcaseError):
        return Failure("grader", text)
    lines = "".join(told.format()).splitlines()[-_TRACEBACK_LINES:]
    name = type(error).__name__
    traceback = [line[:_LONGEST_MESSAGE] for line in lines]
    return Failure("grader", f"{name}: {text}" if text else name, {"traceback": traceback})


def _without_judge(case: Case) -> Grade:
    what = "`criteria`" if case.criteria is not None else "`rubrics`"
    message = (
        f"no judge is configured, and {what} can be graded by a judge only: "
        'add judge = "openai:MODEL" to evalcase.toml'
    )
    return Grade("judge", None, False, message, failure=Failure("grader", message))
