"""One call of a target: out comes an answer or an error, within its time, and never a raise."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.question import Question
from evalcase.model.target import Target
from evalcase.system.timer import Timer


class OverTimeError(TimeoutError):
    """An attempt was not done when its time was over."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"no answer within {limit_s:g} s")


class Attempted(NamedTuple):
    answer: Answer | None
    error: Exception | None
    duration_s: float


async def attempt(target: Target, question: Question, limit_s: float, timer: Timer) -> Attempted:
    """Call a target once."""
    answer: Answer | None = None
    error: Exception | None = None
    started = perf_counter()
    limit = timer.limit(limit_s)
    try:
        with limit:
            answer = _checked(await target.answer(question))
    except asyncio.CancelledError as caught:
        # The target's own, unless it is this trial that is being given up.
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        error = _as_exception(caught)
    except (Exception, SystemExit, GeneratorExit) as caught:  # noqa: BLE001 - the boundary
        # Code that was cancelled at the limit may say something else than that.
        error = OverTimeError(limit_s) if limit.expired else _as_exception(caught)
    return Attempted(None if error else answer, error, perf_counter() - started)


def _checked(answer: object) -> Answer:
    """An answer: a target of the user's own may have returned anything."""
    if isinstance(answer, Answer):
        return answer
    what = f"the target returned {type(answer).__name__}, and not an Answer"
    raise TargetError(what, kind="protocol")


def _as_exception(error: BaseException) -> Exception:
    if isinstance(error, Exception):
        return error
    wrapped = RuntimeError(f"{type(error).__name__}: {error}")
    return wrapped.with_traceback(error.__traceback__)
