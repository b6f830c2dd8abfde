from __future__ import annotations

from random import Random

from evalcase.errors import TargetError
from evalcase.runner.pacing import wait_before_retry
from tests.for_each import for_each

BUSY = TargetError("busy", may_succeed_later=True)


def wait(
    error: BaseException, attempt: int = 1, retries: int = 99, random: float = 1.0,
    retry_timeouts: bool = False,
) -> float | None:  # fmt: skip
    return wait_before_retry(error, attempt, retries, retry_timeouts, lambda: random)


@for_each("error", [ValueError("x"), TargetError("401"), OSError(), TimeoutError(), MemoryError()])
def test_what_will_not_succeed_later_is_not_tried_again(error: Exception) -> None:
    assert wait(error) is None


def test_time_outs_only_if_asked() -> None:
    assert wait(TimeoutError(), retry_timeouts=True) is not None
    assert wait(ValueError(), retry_timeouts=True) is None
    assert wait(TargetError("401"), retry_timeouts=True) is None


def test_waits_double_up_to_a_bound() -> None:
    waits = [wait(BUSY, attempt) for attempt in range(1, 10)]
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_jitter_keeps_between_half_and_all_of_a_wait() -> None:
    draw = Random(1).random
    waits = [wait_before_retry(BUSY, 3, 9, False, draw) or 0.0 for _ in range(500)]
    assert 1.0 <= min(waits) < 1.1
    assert 1.9 < max(waits) <= 2.0


@for_each("random", [0.0, 0.5, 0.999])
def test_never_earlier_than_the_server_says(random: float) -> None:
    error = TargetError("429", may_succeed_later=True, retry_after_s=7.0)
    for attempt in (1, 5):
        said = wait(error, attempt, random=random)
        assert said is not None
        assert 7.0 <= said <= 7.7


def test_a_server_that_says_tomorrow_is_not_waited_for_and_not_asked_before() -> None:
    assert wait(TargetError("429", may_succeed_later=True, retry_after_s=86400.0)) is None
