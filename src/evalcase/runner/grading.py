"""Answers to grades and verdicts. A grader is called here and nowhere else: the outcome is a grade,
never an exception.

This is also the one place that follows the `path` of a grader: several parts of an answer are
graded one by one, and all of them have to pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import cache, lru_cache, partial
from inspect import isawaitable
from types import CoroutineType, NoneType
from typing import NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from msgspec import Struct, field

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
    is_own_class,
)
from evalcase.types.answer import Answer
from evalcase.types.case import Case, needs_judge
from evalcase.types.grade import Grade, Score, mean_score, reaches
from evalcase.types.message import Message
from evalcase.types.result import GRADER_TIMEOUT_S, Verdict
from evalcase.types.value import JSON, describe_kind, replace
from evalcase.util.answers import (
    describe_missing_text,
    find_block,
    has_text,
    shows_nothing,
    value_of_answer,
)
from evalcase.util.environment import monotonic
from evalcase.util.errors import failure_of, to_user_code_error
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
from evalcase.util.user_calls import QueueTime, UserCalls, waiting_in_queue

_PLAIN = (float, int, NoneType)
_one_at_a_time: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
"""Graders that look at the files of one workspace don't run at the same time: some change it."""
_MOST_SHOWN = 3
_LONGEST = 80


class Graded(NamedTuple):
    verdict: Verdict
    grades: tuple[Grade, ...]


class UnaskedTurnsError(Exception):
    """A recorded conversation stopped at a failed turn that passes now: the other turns are
    missing."""


async def grade_answer(
    context: Context, graders: Sequence[NamedGrader], calls: UserCalls,
    timeout_s: float = GRADER_TIMEOUT_S,
) -> Graded:  # fmt: skip
    """The verdict on an answer, with the grade of every grader, in their order. Graders that have
    to be awaited are awaited together, each with its own limit."""
    begun: list[Grade | None] = []
    waiting: dict[int, Coroutine[None, None, Grade]] = {}
    for named in graders:
        if waiting and named.grader.reads_grades():
            await _finish(begun, waiting)
        grade = _begin(named, context, begun, calls, timeout_s)
        if isinstance(grade, Grade):
            begun.append(grade)
        else:
            waiting[len(begun)] = grade
            begun.append(None)
    if waiting:
        await _finish(begun, waiting)
    grades = tuple(filter(None, begun))
    return Graded(decide_verdict(grades, context.case._data.get("threshold")), grades)


def decide_verdict(grades: Sequence[Grade], threshold: float | None = None) -> Verdict:
    """The verdict of one trial.

    A grader that broke makes it errored, whatever the others say. A grader that found nothing to
    grade (no score, no failure) can't make it fail, but it can't pass any more: it is ungraded.
    """
    is_graded, is_ungraded, has_failed = False, False, False
    for grade in grades:
        if grade.indicator:
            continue
        is_graded = True
        if grade.failure is not None:
            return "errored"
        if grade.score is None:
            is_ungraded = True
        elif not grade.passed and (threshold is None or grade.required):
            has_failed = True
    if has_failed:
        return "failed"
    if threshold is not None and is_graded:
        mean = mean_score(grades)
        if mean is None:
            return "ungraded"
        if not reaches(mean, threshold):
            return "failed"
    return "passed" if is_graded and not is_ungraded else "ungraded"


def left_to_compare(case: Case, graders: Sequence[NamedGrader]) -> frozenset[Half]:
    """The halves of `expected_output` that no grader compares: the built-in comparison has to."""
    if not case._data.get("expected_output") or needs_judge(case._data):
        return NEITHER
    compared = NEITHER.union(*[grader.compared for grader in graders]) if graders else NEITHER
    if not compared:
        return BOTH
    return expected_halves(case._data["expected_output"]) - compared


# Calls of graders


async def _finish(
    grades: list[Grade | None], waiting: dict[int, Coroutine[None, None, Grade]]
) -> None:
    if len(waiting) == 1:  # without a further task
        finished = [await each for each in waiting.values()]
    else:
        finished = await asyncio.gather(*waiting.values())
    for at, grade in zip(waiting, finished, strict=True):
        grades[at] = grade
    waiting.clear()


def _begin(
    named: NamedGrader, context: Context, before: Sequence[Grade | None], calls: UserCalls,
    timeout_s: float,
) -> Grade | Coroutine[None, None, Grade]:  # fmt: skip
    """Call a grader, with the grades that are known. Its own may be there at once."""
    asking, kind = None, type(named.grader)
    try:
        if _is_alone(kind):
            outcome = _look_at_answer(named, context)
        else:
            asking = None if context.asker is None else _Asking(context.asker)
            context = replace(
                context, grades=tuple(filter(None, before)),
                asker=None if asking is None else asking.ask,
            )  # fmt: skip
            is_own, has_others = is_own_class(kind), bool(named.grader.inner())
            if has_others:
                below = partial(_grade_below, context, calls, timeout_s)
                context = replace(context, grading=below)
            look = partial(_look_at_answer, named, context if is_own else context.copy())
            space = context.workspace
            if space and not has_others and (kind.workspace == "files" or not is_own):
                outcome = _take_turn(space.path, look)
            elif is_own:
                outcome = look()
            else:  # it is user code
                with calls.attend(_find_limit(named, timeout_s)):
                    outcome = look()
        if isinstance(outcome, Score):
            return grade_of(named, check_score(outcome))
        if type(outcome) is not CoroutineType and not isawaitable(outcome):
            return _make_grade(named, outcome)
    except BaseException as error:  # noqa: BLE001 - the boundary: a grader may raise anything
        return _make_broken_grade(named, to_user_code_error(error))
    return _await_grade(
        named, outcome, asking, _find_limit(named, timeout_s), calls, context.case.id
    )


async def _take_turn(path: str, look: Callable[[], _Seen | Awaitable[_Seen]]) -> _Seen:
    """What a grader says, once those that began to look at the same workspace before are done."""
    lock = _one_at_a_time.setdefault(path, asyncio.Lock())
    with waiting_in_queue():
        await lock.acquire()
    try:
        seen = look()
        return await seen if isawaitable(seen) else seen
    finally:
        lock.release()


async def _grade_below(
    context: Context, calls: UserCalls, timeout_s: float, graders: Sequence[NamedGrader]
) -> tuple[Grade, ...]:
    return (await grade_answer(context, graders, calls, timeout_s)).grades


@cache
def _is_alone(kind: type[Grader]) -> bool:
    """Whether graders of a kind see the case and the answer, and nothing else: they ask no target,
    are made of no others, and read no grades of others."""
    has_others = kind.asks is not Grader.asks or kind.inner is not Grader.inner
    looks_at_files = kind.runs_code or kind.workspace == "files"
    return is_own_class(kind) and not looks_at_files and not has_others


async def _await_grade(
    named: NamedGrader, outcome: Awaitable[object], asking: _Asking | None, limit_s: float,
    calls: UserCalls, name: str,
) -> Grade:  # fmt: skip
    queue = QueueTime() if asking is None else asking.queue

    async def read() -> Grade:  # to read what a grader returned may call its code, too
        with queue.counting():
            return _make_grade(named, await outcome)

    done = await calls.run(read, limit_s, name, queue)
    late = EvalcaseError(f"returned no grade within {limit_s:g} s") if done.is_late else None
    error = late or done.error
    grade = done.value if error is None else _make_broken_grade(named, error)
    assert isinstance(grade, Grade)
    return grade if asking is None else asking.add_to(grade)


def _find_limit(named: NamedGrader, timeout_s: float) -> float:
    """How long a grader may take. One that is made of others may take as long as all of them."""
    if named.timeout_s is not None:
        return named.timeout_s
    own_s = max(timeout_s, named.grader.least_limit_s)
    return own_s + sum([_find_limit(each, timeout_s) for each in named.grader.inner()])


class _Asking(Struct):
    """Passes questions of a grader on, and adds up time and cost of their answers."""

    asker: Asker
    answers: list[Answer] = []
    seconds: float = 0.0
    queue: QueueTime = field(default_factory=QueueTime)
    """How long its questions waited for their turn."""

    async def ask(
        self, target: str, messages: Sequence[Message], schema: JSON, usable: Usable | None
    ) -> Answer:
        began = monotonic()
        try:
            with self.queue.counting():
                answer = await self.asker(target, messages, schema, usable)
        finally:
            self.seconds += monotonic() - began
        self.answers.append(answer)
        return answer

    def add_to(self, grade: Grade) -> Grade:
        return grade.with_answers(self.answers, self.seconds) if self.answers else grade


# The whole answer, or parts of it


_Parts: TypeAlias = list[tuple[str, Score]]
"""What a grader says of parts of an answer, with their paths."""
_Seen: TypeAlias = Score | _Parts
"""What a grader says of the whole answer, or of parts."""
_path = lru_cache(maxsize=256)(JsonPath)


def _look_at_answer(named: NamedGrader, context: Context) -> _Seen | Awaitable[_Seen]:
    grader, answer = named.grader, context.answer
    # A grader that is made of others asks them, and each of those comes here by itself.
    if answer.truncated and grader.reads != "figures" and not grader.inner():
        raise EvalcaseError(
            "the answer was truncated, as it was larger than evalcase stores, so it can't be graded"
        )
    blocked = find_block(answer)
    if blocked is not None and grader.reads != "ending" and not grader.inner():
        what = f"the provider blocked the answer (finish reason `{blocked}`)"
        raise GraderError("blocked", f"{what}: only `finish` can grade it")
    try:
        if grader.reads not in ("text", "value", "either"):
            return grader.grade(context)
        if named.path is None:
            is_silent = grader.reads == "text" and not has_text(answer)
            if is_silent and not grader.accepts_silence():
                return _score_unseen(f"there is {describe_missing_text(answer.last, answer.text)}")
            return grader.grade(context)
        found = _path(named.path).find_all(value_of_answer(answer))
    except BadJsonError as error:
        at = "" if named.path is None else f", so there is nothing at `{named.path}`"
        return _score_unseen(f"the answer is not JSON: {error}{at}")
    except MissingError as error:
        return _score_unseen(str(error))
    outcomes = [_look_at_part(grader, context, each) for each in found]
    if all(isinstance(outcome, Score) for outcome in outcomes):
        return _join_parts(found, outcomes)
    return _await_parts(found, outcomes)


def _score_unseen(reason: str) -> Score:
    """There is nothing to look at: that fails, also with `not: true`."""
    return Score(0.0, reason, passed=False, stands=True)


def _look_at_part(grader: Grader, context: Context, found: Found) -> Score | Awaitable[Score]:
    value = found.value
    if grader.reads == "text" and not isinstance(value, str):
        shown, what = as_json(value), describe_kind(value)
        shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
        return _score_unseen(f"there is {what}, not text" + (f": {shown}" if what != shown else ""))
    if grader.reads == "text" and shows_nothing(str(value)) and not grader.accepts_silence():
        return _score_unseen(f"there is {describe_missing_text((), str(value))}")
    return grader.grade(replace(context, part=Part(*found)))


async def _await_parts(
    found: Sequence[Found], outcomes: Sequence[Score | Awaitable[Score]]
) -> _Parts:
    try:
        scores = [await each if isawaitable(each) else each for each in outcomes]
    finally:
        for each in outcomes:  # those after one that broke were never started
            if isinstance(each, Coroutine):
                each.close()
    return _join_parts(found, scores)


def _join_parts(found: Sequence[Found], scores: Sequence[object]) -> _Parts:
    pairs = zip(found, scores, strict=True)
    return [(part.path, check_score(score)) for part, score in pairs]


# Scores to grades


def check_score(outcome: object) -> Score:
    """The score, of plain values. Raise EvalcaseError if it is none, or can't be recorded."""
    if not isinstance(outcome, Score):
        raise EvalcaseError(f"returned a {type(outcome).__name__}, which is not a Score")
    value, details = outcome.value, outcome.details
    is_plain = type(value) in _PLAIN and type(outcome.reason) is str and type(details) is dict
    if is_plain and not details and (value is None or 0 <= value <= 1):
        return outcome
    try:
        copied = copy_json(details)
    except (NotJsonError, RecursionError) as error:
        raise EvalcaseError(f"returned details that are not JSON: {error}") from None
    assert isinstance(copied, dict)
    value = value if type(value) in _PLAIN else float(value or 0.0)
    return Score(value, plain_text(outcome.reason), copied, outcome.passed, outcome.stands)


def _make_grade(named: NamedGrader, seen: object) -> Grade:
    if type(seen) is list and named.path is not None:
        return _grade_parts(named, seen)
    return grade_of(named, check_score(seen))


def _make_broken_grade(named: NamedGrader, error: BaseException) -> Grade:
    failure = failure_of(error, "grader")
    reason = failure.message
    return Grade(
        named.name, None, False, reason, {}, named.weight, named.required, failure,
        indicator=named.indicator,
    )  # fmt: skip


def grade_of(named: NamedGrader, score: Score) -> Grade:
    value, stands = score.value, score.stands is True
    passed = by_threshold = False
    # A threshold has to be reached also where the grader says that it passed.
    if value is not None and not (named.negated and stands):
        by_threshold = score.passed is None or (named.threshold is not None and score.passed)
        reached = reaches(value, named.needed_score)
        passed = reached if by_threshold else bool(score.passed)
    is_turned = named.negated and not stands and value is not None
    if is_turned:
        assert value is not None
        value, passed, by_threshold = 1.0 - value, not passed, False
    reason = _write_reason(named, value, passed, score.reason, by_threshold)
    if is_turned and not passed:
        reason = f"{reason}; with `not: true` that fails"
    return Grade(
        named.name, value, passed, reason, {**score.details}, named.weight, named.required,
        stands=stands, indicator=named.indicator,
    )  # fmt: skip


def _write_reason(
    named: NamedGrader, value: float | None, passed: bool, reason: str, by_threshold: bool
) -> str:
    """The reason, with the numbers where a part of the score was not enough, or was enough because
    of a threshold. A comparison says itself what is missing."""
    is_whole = passed and (value == 1 or not by_threshold or named.threshold is None)
    is_clear = is_whole or not value or named.grader.name == "expected"
    if value is None or (reason and is_clear):
        return reason
    told = f"score {write_score(value, *(() if passed else (named.needed_score,)))}"
    if by_threshold and not is_whole:
        told = f"{told}, needs {named.needed_score:g}"
    return f"{reason} ({told})" if reason else told


def _grade_parts(named: NamedGrader, scores: _Parts) -> Grade:
    """The grade of all parts: the lowest score, and passed if every one of them is."""
    parts = [(path, grade_of(named, score)) for path, score in scores]
    ungraded = next((grade for _, grade in parts if grade.score is None), None)
    if ungraded is not None:
        return ungraded
    path, worst = min(parts, key=lambda part: (part[1].passed, part[1].score))
    if len(parts) == 1:
        return replace(worst, reason=f"at `{path}`: {worst.reason}")
    failed = [(path, grade) for path, grade in parts if not grade.passed]
    reason = f"all {len(parts)} parts: {worst.reason}"
    if failed:
        said = [f"at `{path}`: {grade.reason}" for path, grade in failed[:_MOST_SHOWN]]
        said += [f"and {len(failed) - _MOST_SHOWN} more"] if len(failed) > _MOST_SHOWN else []
        reason = f"{len(failed)} of {len(parts)} parts fail: {'; '.join(said)}"
    return replace(
        worst, score=min(grade.score for _, grade in parts if grade.score is not None),
        reason=reason, stands=bool(failed) and all(grade.stands for _, grade in failed),
    )  # fmt: skip
