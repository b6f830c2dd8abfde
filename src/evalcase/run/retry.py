"""When to try again, and how long to wait before."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.errors import TargetError
from evalcase.run.pace import LONGEST_PAUSE_S
from evalcase.text.crash import ToldError, leaves_of

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


def wait_before_retry(
    error: BaseException, attempt: int, retries: int, retry_timeouts: bool,
    random: Callable[[], float],
) -> float | None:  # fmt: skip
    """Seconds until the next attempt; None if there is to be none.

    Waits double from one attempt to the next, with jitter, so that many trials that failed
    together don't come back together. A server that says when to come back is believed.
    """
    error = leaves_of(error)[0]
    if attempt > retries or not _may_succeed_later(error, retry_timeouts):
        return None
    if isinstance(error, TargetError) and error.retry_after_s is not None:
        if error.retry_after_s > LONGEST_PAUSE_S:
            return None  # whoever comes back sooner is only refused again
        return error.retry_after_s * (1 + 0.1 * random())
    longest: float = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** min(attempt - 1, 10))
    return longest * (0.5 + 0.5 * random())


def _may_succeed_later(error: BaseException, retry_timeouts: bool) -> bool:
    if isinstance(error, ToldError) and error.sort == "timeout":
        return retry_timeouts
    if isinstance(error, TargetError):
        return error.may_succeed_later
    return retry_timeouts and isinstance(error, TimeoutError)
