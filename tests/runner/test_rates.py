from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf

import pytest

from evalcase.errors import TargetError
from evalcase.runner.pacing import Limits, Rate, Rates
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Message
from evalcase.types.target import Question, Target
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
