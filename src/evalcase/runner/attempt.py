"""One call of a target: out comes an answer or an error, within its time, and never a raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isawaitable
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.runner.checked import check_answer
from evalcase.types.answer import Answer
from evalcase.types.grade import copy_question
from evalcase.types.question import Question
from evalcase.types.target import Quota, Target
from evalcase.types.value import JSON, replace
from evalcase.util.errors import recordable_details
from evalcase.util.user_calls import UserCalls

_MORE_TIME = "`timeout_s` of the case, or --timeout, allows more"


class OverTimeError(TimeoutError):
    """An attempt was not done when its time was over."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"no answer within {limit_s:g} s ({_MORE_TIME})")


class Attempted(NamedTuple):
    answer: Answer | None
    error: BaseException | None
    duration_s: float
    quota: Quota | None = None
    """What the target's service said meanwhile of how much more it takes."""
    seen: Mapping[str, JSON] | None = None
    """What is known of a call that came to nothing, beside its error."""


async def make_attempt(
    target: Target, question: Question, limit_s: float, calls: UserCalls
) -> Attempted:
    """Call a target once."""
    if not target.traits.only_reads:
        question = copy_question(question)
    elif target.traits.seen is not None:
        question = replace(question)  # this call's own, by which it is known

    async def ask() -> object:
        given: object = target.answer(question)
        if isawaitable(given):
            return await given
        what = "the method `answer` of a Target must be async (`async def answer`)"
        why = f"{what}: it returned {type(given).__name__}, which can't be awaited"
        raise TargetError(why, kind="protocol")

    outcome = await calls.run(ask, limit_s, question.case, check_answer)
    quota = None if target.traits.quota is None else _take_quota(target.traits.quota)
    # A call that is late may have returned or raised anything once it was cancelled.
    error = OverTimeError(limit_s) if outcome.is_late else outcome.error
    if error is not None:
        return Attempted(None, error, outcome.took_s, quota, _see_question(target, question))
    assert isinstance(outcome.value, Answer)
    return Attempted(outcome.value, None, outcome.took_s, quota, None)


def _take_quota(take: Callable[[], Quota | None]) -> Quota | None:
    try:
        said = take()
    except Exception:  # noqa: BLE001 - a target may be anybody's, and the answer is there
        return None
    return said if isinstance(said, Quota) else None


def _see_question(target: Target, question: Question) -> Mapping[str, JSON] | None:
    look = target.traits.seen
    try:
        return None if look is None else recordable_details(dict(look(question)))
    except Exception:  # noqa: BLE001 - a target may be anybody's, and the error is there
        return None
