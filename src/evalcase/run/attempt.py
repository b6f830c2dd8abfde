"""One call of a target: out comes an answer or an error, within its time, and never a raise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, NoReturn

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.own_copies import copy_question
from evalcase.model.question import Question
from evalcase.model.quota import Quota
from evalcase.model.target import Target
from evalcase.model.value import replace
from evalcase.run.checked import check_answer
from evalcase.system.guest import NothingToAwaitError, Stay
from evalcase.system.guests import Guests
from evalcase.text.crash import recordable_details

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
    target: Target, question: Question, limit_s: float, guests: Guests
) -> Attempted:
    """Call a target once."""
    plan = target.traits.plan
    if not target.traits.only_reads:
        question = copy_question(question)
    elif target.traits.seen is not None:
        question = replace(question)  # this call's own, by which it is known
    if plan is None:
        came = guests.call(target.answer, question, limit_s, question.case, check_answer)
        stay = came if isinstance(came, Stay) else await came
    else:
        begun = _begin_plan(plan, question)
        stay = await guests.run(begun, limit_s, question.case, check_answer)
    quota = None if target.traits.quota is None else _take_quota(target.traits.quota)
    if stay.is_late:
        # Code that was told to leave may say anything; and so may one that didn't listen.
        late = OverTimeError(limit_s)
        return Attempted(None, late, stay.took_s, quota, _see_question(target, question))
    if stay.error is not None:
        told = _explain_error(stay.error)
        return Attempted(None, told, stay.took_s, quota, _see_question(target, question))
    assert isinstance(stay.value, Answer)
    return Attempted(stay.value, None, stay.took_s, quota, None)


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


def _begin_plan(
    plan: Callable[[Question], Awaitable[Answer]], question: Question
) -> Awaitable[object]:
    try:
        return plan(question)
    except BaseException as error:  # noqa: BLE001 - a target may be anybody's
        return _raise_error(error)


async def _raise_error(error: BaseException) -> NoReturn:
    raise error


def _explain_error(error: BaseException) -> BaseException:
    """An error in words that say whose it is."""
    if isinstance(error, NothingToAwaitError):
        what = "the method `answer` of a Target must be async (`async def answer`)"
        return TargetError(f"{what}: it returned {error}, which can't be awaited", kind="protocol")
    if not isinstance(error, asyncio.CancelledError) or error.args:
        return error
    told = RuntimeError("the call was cancelled, but not by evalcase")
    return told.with_traceback(error.__traceback__)
