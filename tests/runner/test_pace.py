from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from evalcase.errors import TargetError
from evalcase.runner.calls import Attempted
from evalcase.runner.pacing import Limits, Pace, Start
from evalcase.testing import ScriptedTarget
from evalcase.types.answer import Answer
from evalcase.types.target import Question
from tests.run.test_dispatch import Patient, dispatcher_of
from tests.targets.questions import question
from tests.virtual_time import run_in_virtual_time


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
