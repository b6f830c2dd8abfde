"""The one place where a target is called: out comes an answer or a failure, never a raise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple, Protocol

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.failure import Failure
from evalcase.model.trial import Trial
from evalcase.run.limits import Limits
from evalcase.run.pace import Pace
from evalcase.run.retry import wait_before_retry
from evalcase.text.crash import failure_of


class OverTimeError(TimeoutError):
    """An attempt was not done when its time was over."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"no answer within {limit_s:g} s")


class Target(Protocol):
    async def open(self) -> None: ...
    async def answer(self, trial: Trial) -> Answer: ...
    async def close(self) -> None: ...


class Outcome(NamedTuple):
    """What the last attempt came to."""

    answer: Answer | None
    failure: Failure | None
    attempts: int
    duration_s: float
    """Of the last attempt."""
    retried: tuple[Failure, ...] = ()
    """What the attempts before it came to."""
    interrupted: bool = False
    """Whether it was ended by Ctrl-C, so that nothing is known of it."""


class Patience(Protocol):
    """Waits for a trial that has nothing under way, and may be told to stop doing so."""

    async def sleep(self, seconds: float) -> None: ...
    async def turn(self, pace: Pace) -> float: ...


async def ask(
    target: Target, trial: Trial, limits: Limits, pace: Pace,
    patience: Patience, random: Callable[[], float],
) -> Outcome:  # fmt: skip
    """Get an answer, trying again where that may help."""
    limit_s = limits.of_case(trial.case.timeout_s)
    retried: list[Failure] = []
    while True:
        began = await (pace.begin() if pace.is_free else patience.turn(pace))
        answer, error, duration_s = await _attempt(target, trial, limit_s, pace, began)
        number = len(retried) + 1
        if error is None:
            return Outcome(answer, None, number, duration_s, tuple(retried))
        over = isinstance(error, OverTimeError)
        failure = Failure("timeout", str(error)) if over else failure_of(error)
        wait_s = wait_before_retry(error, number, limits.retries, limits.retry_timeouts, random)
        if wait_s is None:
            by_hand = isinstance(error.__cause__, KeyboardInterrupt)
            return Outcome(None, failure, number, duration_s, tuple(retried), by_hand)
        retried.append(failure)
        await patience.sleep(wait_s)


async def _attempt(
    target: Target, trial: Trial, limit_s: float, pace: Pace, began: float
) -> tuple[Answer | None, Exception | None, float]:
    answer: Answer | None = None
    error: Exception | None = None
    started = perf_counter()
    try:
        async with asyncio.timeout(limit_s) as limit:
            answer = _checked(await target.answer(trial))
    except asyncio.CancelledError as caught:
        # The target's own, unless it is this trial that is being given up.
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        error = _as_exception(caught)
    except (Exception, SystemExit, GeneratorExit) as caught:  # noqa: BLE001 - the boundary
        # Code that was cancelled at the limit may say something else than that.
        error = OverTimeError(limit_s) if limit.expired() else _as_exception(caught)
    finally:
        known = error if isinstance(error, TargetError) else None
        pace.end(
            began,
            overloaded=known is not None and known.overloaded,
            retry_after_s=known.retry_after_s if known is not None else None,
        )
    return answer, error, perf_counter() - started


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
