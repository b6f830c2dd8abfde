"""Answers to grades and verdicts. A grader is called here and nowhere else: the outcome is a grade,
never an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import lru_cache, partial
from inspect import isawaitable
from math import fsum
from types import NoneType
from typing import Any, NamedTuple

from evalcase.errors import EvalcaseError, GraderError
from evalcase.graders.base import (
    BOTH,
    NEITHER,
    Asker,
    Context,
    Grader,
    Half,
    NamedGrader,
    Part,
    Usable,
    expected_halves,
)
from evalcase.types.answer import Answer, Failure, sum_usage
from evalcase.types.case import Case
from evalcase.types.grade import Grade, Score, fault_of_score, mean_score, reaches
from evalcase.types.message import Message
from evalcase.types.result import GRADER_TIMEOUT_S, Verdict
from evalcase.types.value import JSON, describe_kind, replace
from evalcase.util.answers import (
    find_block,
    has_text,
    say_silence,
    shows_nothing,
    value_of_answer,
)
from evalcase.util.environment import monotonic
from evalcase.util.errors import failure_of, tell_error
from evalcase.util.json import (
    BadJsonError,
    Found,
    JsonPath,
    MissingError,
    NotJsonError,
    copy_json,
    plain_text,
)
from evalcase.util.text import as_json, write_score
from evalcase.util.user_calls import CallOutcome, QueueTime, UserCalls


def decide_verdict(grades: Sequence[Grade], threshold: float | None = None) -> Verdict:
    """The verdict of one trial.

    A grader that broke makes it errored, whatever the others say. A grader that found nothing to
    grade (no score, no failure) can't make it fail, but it can't pass any more: it is ungraded.
    """
    grades = [grade for grade in grades if not grade.indicator]
    if any(grade.failure is not None for grade in grades):
        return "errored"
    graded = [grade for grade in grades if grade.score is not None]
    if threshold is None:
        if not all(grade.passed for grade in graded):
            return "failed"
    else:
        mean = mean_score(graded)
        if not all(grade.passed for grade in graded if grade.required):
            return "failed"
        if mean is None:
            return "ungraded"
        if not reaches(mean, threshold):
            return "failed"
    return "passed" if grades and len(graded) == len(grades) else "ungraded"


_NUMBERS = (float, int, NoneType)
"""What a score is, but for classes of their own."""


def check_score(outcome: object) -> Score:
    """The score. Raise EvalcaseError if it is none, or one that would spoil a mean or a record."""
    if not isinstance(outcome, Score):
        raise EvalcaseError(f"returned a {type(outcome).__name__}, which is not a Score")
    fault = fault_of_score(outcome)
    if fault is not None:
        raise EvalcaseError(f"returned {fault}")
    number, is_plain = outcome.value, type(outcome) is Score and type(outcome.value) in _NUMBERS
    has_details = type(outcome.details) is not dict or outcome.details
    if is_plain and not has_details and type(outcome.reason) is str:
        return outcome
    # Plain values all through: those of a class of their own may do anything when they are used.
    value = number if number is None or type(number) in _NUMBERS else float(number)
    reason, details = plain_text(outcome.reason), _plain_details(outcome.details)
    return Score(value, reason, details, outcome.passed, outcome.stands is True)


def _plain_details(details: dict[str, Any]) -> dict[str, JSON]:
    try:
        copied = copy_json(details)
    except (NotJsonError, RecursionError) as error:
        raise EvalcaseError(f"returned details that are not JSON: {error}") from None
    assert isinstance(copied, dict)
    return copied


_SHOWN = 3


class PartScore(NamedTuple):
    """What a grader says of one part of an answer."""

    path: str
    score: Score


class PartScores(NamedTuple):
    """What it says of all the parts that its path leads to, at least one."""

    parts: Sequence[PartScore]


def grade_of(named: NamedGrader, score: Score) -> Grade:
    """What a score comes to in its case."""
    value, stands = score.value, score.stands
    if value == 1 and score.passed is None and score.reason and not named.negated:
        # Whatever is asked for is reached, and there is nothing to add.
        return Grade(
            named.name, value, True, score.reason, {**score.details}, named.weight, named.required,
            None, 0, None, 0, None, None, stands,
        )  # fmt: skip
    passed, by_threshold = _decide_pass(named, score)
    if named.negated and stands:
        passed, by_threshold = False, False
    turns = named.negated and not stands and value is not None
    if turns and value is not None:
        value, passed, by_threshold = 1.0 - value, not passed, False
    reason = _write_reason(named, value, passed, score.reason, by_threshold)
    if turns and not passed:
        reason = f"{reason}; with `not: true` that fails"
    return Grade(
        named.name, value, passed, reason, {**score.details}, named.weight, named.required,
        stands=stands,
    )  # fmt: skip


def _decide_pass(named: NamedGrader, score: Score) -> tuple[bool, bool]:
    """Whether it passes before `not`, and whether it is the threshold that says so.

    A threshold that is given has to be reached also where the grader says itself that it passed.
    """
    if score.value is None:
        return False, False
    if score.passed is not None and (named.threshold is None or not score.passed):
        return score.passed, False
    return reaches(score.value, named.needed_score), True


def _write_reason(
    named: NamedGrader, value: float | None, passed: bool, reason: str, by_threshold: bool
) -> str:
    """Why, with the arithmetic where a part of the score was not enough, or was enough since a
    threshold says so. A comparison says itself what is missing."""
    is_whole = passed and not (by_threshold and named.threshold is not None)
    is_clear = is_whole or not value or named.grader.name == "expected"
    if value is None or (reason and is_clear):
        return reason
    told = f"score {write_score(value, *(() if passed else (named.needed_score,)))}"
    if by_threshold and not is_whole:
        told = f"{told}, needs {named.needed_score:g}"
    return f"{reason} ({told})" if reason else told


def grade_of_parts(named: NamedGrader, scores: PartScores) -> Grade:
    """The grade of all parts: the lowest score, and passed if every one of them is."""
    parts = [(path, grade_of(named, score)) for path, score in scores.parts]
    ungraded = next((grade for _, grade in parts if grade.score is None), None)
    if ungraded is not None:
        return ungraded
    # What is shown of them is the worst: one that fails, if any does.
    path, worst = min(parts, key=lambda part: (part[1].passed, part[1].score))
    if len(parts) == 1:
        return replace(worst, reason=f"at `{path}`: {worst.reason}")
    failed = [(path, grade) for path, grade in parts if not grade.passed]
    return replace(
        worst,
        score=min(grade.score for _, grade in parts if grade.score is not None),
        reason=_reason_of_parts(failed, len(parts)) or f"all {len(parts)} parts: {worst.reason}",
        stands=bool(failed) and all(grade.stands for _, grade in failed),
    )


def _reason_of_parts(failed: Sequence[tuple[str, Grade]], parts: int) -> str:
    if not failed:
        return ""
    said = [f"at `{path}`: {grade.reason}" for path, grade in failed[:_SHOWN]]
    more = [f"and {len(failed) - _SHOWN} more"] if len(failed) > _SHOWN else []
    return f"{len(failed)} of {parts} parts fail: {'; '.join([*said, *more])}"


_LONGEST = 80

Seen = Score | PartScores
"""What a grader says of the whole answer, or of parts."""


def look_at_answer(named: NamedGrader, context: Context) -> Seen | Awaitable[Seen]:
    """What a grader says of an answer, or of the parts that it is told to look at."""
    grader = named.grader
    # A grader that is made of others asks them, and each of those is looked at here by itself.
    if context.answer.truncated and grader.reads != "figures" and not grader.inner():
        raise EvalcaseError(
            "the answer was truncated, as it was larger than evalcase stores, so it can't be graded"
        )
    blocked = find_block(context.answer)
    if blocked is not None and grader.reads != "ending" and not grader.inner():
        what = f"the provider blocked the answer (finish reason `{blocked}`)"
        raise GraderError("blocked", f"{what}: only `finish` can grade it")
    if grader.reads not in ("text", "value", "either"):
        return grader.grade(context)
    try:
        is_whole_text = named.path is None and grader.reads == "text"
        if is_whole_text and not has_text(context.answer) and not grader.accepts_silence():
            said = context.answer.text
            return _score_unseen(f"there is {say_silence(context.answer.last, said)}")
        if named.path is None:
            return grader.grade(context)
        found = _path(named.path).find_all(value_of_answer(context.answer))
    except BadJsonError as error:
        at = "" if named.path is None else f", so there is nothing at `{named.path}`"
        return _score_unseen(f"the answer is not JSON: {error}{at}")
    except MissingError as error:
        return _score_unseen(str(error))
    return _look_at_parts(grader, context, found)


_path = lru_cache(maxsize=256)(JsonPath)


def _score_unseen(reason: str) -> Score:
    """There is nothing to look at, so that there is nothing to turn round."""
    return Score(0.0, reason, passed=False, stands=True)


def _look_at_parts(
    grader: Grader, context: Context, found: Sequence[Found]
) -> Seen | Awaitable[Seen]:
    outcomes = [_look_at_part(grader, context, each) for each in found]
    if all(isinstance(outcome, Score) for outcome in outcomes):
        return _put_together(found, outcomes)
    return _wait_for_parts(found, outcomes)


def _look_at_part(grader: Grader, context: Context, found: Found) -> Score | Awaitable[Score]:
    if grader.reads != "text":
        return grader.grade(replace(context, part=Part(*found)))
    if not isinstance(found.value, str):
        shown = as_json(found.value)
        shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
        what = describe_kind(found.value)
        return _score_unseen(f"there is {what}, not text" + (f": {shown}" if what != shown else ""))
    if shows_nothing(found.value) and not grader.accepts_silence():
        return _score_unseen(f"there is {say_silence((), found.value)}")
    return grader.grade(replace(context, part=Part(*found)))


async def _wait_for_parts(
    found: Sequence[Found], outcomes: Sequence[Score | Awaitable[Score]]
) -> PartScores:
    try:
        scores = [await each if isawaitable(each) else each for each in outcomes]
    finally:
        for each in outcomes:  # those after one that broke have not been begun
            if isinstance(each, Coroutine):
                each.close()
    return _put_together(found, scores)


def _put_together(found: Sequence[Found], scores: Sequence[object]) -> PartScores:
    pairs = zip(found, scores, strict=True)
    return PartScores([PartScore(part.path, check_score(score)) for part, score in pairs])


class Asking:
    """Passes questions on, and remembers what their answers took."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._answers: list[Answer] = []
        self._seconds = 0.0
        self.queue = QueueTime()
        """How long its questions waited for their turn."""

    async def ask(
        self, target: str, messages: Sequence[Message], schema: JSON, usable: Usable | None
    ) -> Answer:
        began = monotonic()
        try:
            with self.queue.counting():
                answer = await self._asker(target, messages, schema, usable)
        finally:
            self._seconds += monotonic() - began
        self._answers.append(answer)
        return answer

    def put_on(self, grade: Grade) -> Grade:
        """The grade, with what it took."""
        if not self._answers:
            return grade
        costs = [answer.cost_usd for answer in self._answers]
        known = [cost for cost in costs if cost is not None]
        return replace(
            grade,
            asked=len(costs),
            usage=sum_usage([answer.usage for answer in self._answers]),
            cached=sum(answer.cached for answer in self._answers),
            asking_s=round(self._seconds, 6),
            cost_usd=fsum(known) if len(known) == len(costs) else None,
        )


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
    return tuple([
        replace(grade, indicator=True) if named.indicator else grade
        for grade, named in zip(grades, graders, strict=True)
        if grade is not None
    ])  # fmt: skip


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
    if named.grader.inner():
        below = partial(_grade_each, context, calls=calls, timeout_s=timeout_s)
        context = replace(context, grading=below)
        limit_s = _find_limit(named, timeout_s)
    if type(named.grader).__module__.startswith("evalcase.graders."):
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
