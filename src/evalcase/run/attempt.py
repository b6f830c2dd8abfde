"""The one place where a target is called: out comes an answer or a failure, never a raise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import NamedTuple, Protocol

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.failure import Failure
from evalcase.model.trial import Trial
from evalcase.run.limits import Limits
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


async def ask(
    target: Target, trial: Trial, limits: Limits,
    sleep: Callable[[float], Awaitable[None]], random: Callable[[], float],
) -> Outcome:  # fmt: skip
    """Get an answer, trying again where that may help."""
    limit_s = trial.case.timeout_s or limits.timeout_s
    attempt = 0
    while True:
        attempt += 1
        started = perf_counter()
        try:
            async with asyncio.timeout(limit_s):
                answer = await target.answer(trial)
            return Outcome(answer, None, attempt, perf_counter() - started)
        except Exception as error:  # noqa: BLE001 - the boundary: user code may raise anything
            duration_s = perf_counter() - started
            wait_s = wait_before_retry(
                error, attempt, limits.retries, limits.retry_timeouts, random
            )
            if wait_s is None:
                return Outcome(None, _failure(error, limit_s, duration_s), attempt, duration_s)
        await sleep(wait_s)


def _failure(error: Exception, limit_s: float, duration_s: float) -> Failure:
    if isinstance(error, TargetError):
        return Failure(error.kind, str(error), error.details)
    if isinstance(error, TimeoutError) and duration_s >= limit_s:
        return Failure("timeout", f"no answer within {limit_s:g} s")
    from traceback import format_exception

    lines = "".join(format_exception(error)).splitlines()
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Failure("exception", message, {"traceback": lines[-20:]})
