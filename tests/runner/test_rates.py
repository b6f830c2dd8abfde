import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from random import Random

import pytest

from evalcase.errors import TargetError
from evalcase.runner.calls import Attempted
from evalcase.runner.pacing import Limits, Pace, Rate, Rates, Start, wait_before_retry
from evalcase.testing import ScriptedTarget
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Message
from evalcase.types.target import Question, Target
from tests.for_each import for_each
from tests.run.test_dispatch import Patient, dispatcher_of
from tests.targets.questions import question
from tests.virtual_time import run_in_virtual_time


def test_a_minute_takes_so_much_wherever_it_begins() -> None:
    rates = Rates(Rate(rpm=3))
    for now in (0.0, 10.0, 20.0):
        assert rates.ready_in(now, 0) == 0
        rates.take(now)
    assert rates.ready_in(20.0, 3) == 40.0
    assert rates.ready_in(59.9, 3) == pytest.approx(0.1)
    assert rates.ready_in(60.0, 3) == 0


def test_the_first_question_goes_alone_where_tokens_are_counted() -> None:
    rates = Rates(Rate(tpm=100))
    assert rates.ready_in(0.0, 0) == 0
    first = rates.take(0.0)
    assert rates.ready_in(0.0, 1) == inf
    rates.settle(first, 60)
    assert rates.ready_in(5.0, 0) == 55.0  # it is taken to need as much as the one before
    rates.settle(rates.take(60.0), 600)
    assert rates.ready_in(70.0, 0) == 50.0
    assert rates.ready_in(120.0, 0) == 0  # more than a minute has, but nothing else is counted


class Timed(Target):
    """Notes when it is asked, and takes a second and some tokens for each answer."""

    def __init__(self, tokens: int | None = 10) -> None:
        self.at: list[float] = []
        self.tokens = tokens

    async def answer(self, question: Question) -> Answer:
        del question
        self.at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(1)
        usage = None if self.tokens is None else Usage(self.tokens - 1, 1)
        return Answer((Message({"role": "assistant", "content": "ok"}),), usage)


def asked_at(
    target: Timed, count: int, rate: Rate, warn: Callable[[str], None] = print
) -> list[float]:
    """When so many questions, all there at once, reach a target."""

    async def go() -> None:
        limits = Limits(concurrency=1000, rates={"it": rate})
        dispatcher = dispatcher_of(target, limits, Patient(), warn=warn)
        await asyncio.gather(*(dispatcher.ask("it", question()) for _ in range(count)))

    run_in_virtual_time(go())
    return target.at


def test_requests_of_a_run_keep_their_rate() -> None:
    assert asked_at(Timed(), 7, Rate(rpm=3)) == [0, 0, 0, 60, 60, 60, 120]


def test_judges_share_the_rate_of_the_target_that_they_ask() -> None:
    target = Timed()

    async def go() -> None:
        dispatcher = dispatcher_of(target, Limits(rates={"it": Rate(rpm=2)}), Patient())
        message = Message({"role": "user", "content": "is it good?"})
        judge = dispatcher.ask_for_grader("it", (message,), None, None, question())
        await asyncio.gather(
            dispatcher.ask("it", question()), judge, dispatcher.ask("it", question())
        )

    run_in_virtual_time(go())
    assert target.at == [0, 0, 60]


def test_every_attempt_is_a_request() -> None:
    class Busy(Timed):
        async def answer(self, question: Question) -> Answer:
            answer = await super().answer(question)
            if len(self.at) < 3:
                raise TargetError("busy", may_succeed_later=True)
            return answer

    assert asked_at(Busy(), 1, Rate(rpm=1)) == [0, 60, 120]


# Retry


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


# Pace


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def go() -> None:
        async with asyncio.timeout(20):
            await test()

    asyncio.run(go())


async def begun(pace: Pace, count: int) -> list[Start]:
    return [await pace.begin() for _ in range(count)]


def overloaded(retry_after_s: float | None = None) -> Attempted:
    error = TargetError("429", kind="http", overloaded=True, retry_after_s=retry_after_s)
    return Attempted(None, error, 0.0)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_an_overload_halves_the_limit_once_for_all_that_was_under_way() -> None:
    async def test() -> None:
        pace = Pace(8)
        for began in await begun(pace, 8):
            pace.end(began, overloaded())
        assert pace.limit == 4
        pace.end(await pace.begin(), overloaded())
        assert pace.limit == 1

    run(test)


def test_the_limit_grows_by_one_with_a_round_of_successes_up_to_where_it_was() -> None:
    async def test() -> None:
        pace = Pace(4)
        for began in await begun(pace, 4):
            pace.end(began, overloaded())
        assert pace.limit == 2
        for _ in range(2):
            pace.end(await pace.begin(), Attempted(Answer.of_text("ok"), None, 0.0))
        assert 2.8 < pace.limit <= 3
        for _ in range(50):
            pace.end(await pace.begin(), Attempted(Answer.of_text("ok"), None, 0.0))
        assert pace.limit == 4

    run(test)


def test_a_target_that_says_when_to_come_back_is_left_alone_by_all_until_then() -> None:
    async def test() -> None:
        pace = Pace(4)
        loop = asyncio.get_running_loop()
        first, second = await begun(pace, 2)
        pace.end(first, overloaded(0.15))
        # A shorter word after a longer one doesn't open the door early.
        pace.end(second, overloaded(0.05))
        until = loop.time() + 0.1
        assert pace.begin_at_once() is None
        await pace.begin()
        assert loop.time() >= until

    run(test)


class Busy(ScriptedTarget):
    """Refuses whoever comes while so many are being answered."""

    def __init__(self, room: int) -> None:
        super().__init__([])
        self.room = room
        self.inside = 0
        self.most = 0

    async def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        if self.inside >= self.room:
            raise TargetError("429", kind="http", may_succeed_later=True, overloaded=True)
        self.inside += 1
        self.most = max(self.most, self.inside)
        for _ in range(20):
            await asyncio.sleep(0)
        self.inside -= 1
        return Answer.of_text("ok")


def test_many_trials_find_the_pace_of_a_target_that_can_do_two_at_once() -> None:
    async def test() -> None:
        target, limits = Busy(2), Limits(16, retries=50)
        dispatcher = dispatcher_of(target, limits, Patient())
        outcomes = await asyncio.gather(*[dispatcher.ask("it", question()) for _ in range(200)])
        assert all(outcome.failure is None for outcome in outcomes)
        assert target.most == 2
        # Without a pace, most of what is sent would be refused.
        assert len(target.asked) < 2 * len(outcomes)

    run_in_virtual_time(test())
