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


class Patience(Protocol):
    """Waits for a trial that has nothing under way, and may be told to stop doing so."""

    async def sleep(self, seconds: float) -> None: ...
    async def turn(self, pace: Pace) -> float: ...


async def ask(
    target: Target, trial: Trial, limits: Limits, pace: Pace,
    patience: Patience, random: Callable[[], float],
) -> Outcome:  # fmt: skip
    """Get an answer, trying again where that may help."""
    limit_s = trial.case.timeout_s or limits.timeout_s
    retried: list[Failure] = []
    while True:
        began = await (pace.begin() if pace.is_free else patience.turn(pace))
        answer, error, duration_s = await _attempt(target, trial, limit_s, pace, began)
        number = len(retried) + 1
        if error is None:
            return Outcome(answer, None, number, duration_s, tuple(retried))
        failure = _failure(error, limit_s, duration_s)
        wait_s = wait_before_retry(error, number, limits.retries, limits.retry_timeouts, random)
        if wait_s is None:
            return Outcome(None, failure, number, duration_s, tuple(retried))
        retried.append(failure)
        await patience.sleep(wait_s)


async def _attempt(
    target: Target, trial: Trial, limit_s: float, pace: Pace, began: float
) -> tuple[Answer | None, Exception | None, float]:
    answer, error = None, None
    started = perf_counter()
    try:
        async with asyncio.timeout(limit_s):
            answer = await target.answer(trial)
    except Exception as caught:  # noqa: BLE001 - the boundary: user code may raise anything
        error = caught
    finally:
        known = error if isinstance(error, TargetError) else None
        pace.end(
            began,
            overloaded=known is not None and known.overloaded,
            retry_after_s=known.retry_after_s if known is not None else None,
        )
    return answer, error, perf_counter() - started


def _failure(error: Exception, limit_s: float, duration_s: float) -> Failure:
    if isinstance(error, TargetError):
        return Failure(error.kind, str(error), error.details)
    if isinstance(error, TimeoutError) and duration_s >= limit_s:
        return Failure("timeout", f"no answer within {limit_s:g} s")
    from traceback import format_exception

    lines = "".join(format_exception(error)).splitlines()
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Failure("exception", message, {"traceback": lines[-20:]})
