"""Answers with so much in them that to compare it takes seconds: no other trial waits for that."""

import json
from collections.abc import Iterator
from inspect import isawaitable
from typing import Any

import pytest

from evalcase.graders.base import Context, Grader, NamedGrader
from evalcase.graders.expected import ExpectedGrader
from evalcase.graders.json import JsonEqualsGrader
from evalcase.graders.text import SimilarityGrader
from evalcase.graders.trajectory import TrajectoryGrader
from evalcase.runner.event_loop import run_async
from evalcase.runner.grading import grade_answer
from evalcase.util.user_calls import UserCalls
from tests.graders.expectation import answer_of, calls, context_of, settled


def made(numbers: range) -> dict[str, Any]:
    return calls(*({"tool": "t", "input": {"n": number}} for number in numbers))


def many(size: int) -> Iterator[tuple[Grader, Context]]:
    """Of each grader that compares in any order, or nearly so, one that nothing matches for."""
    several = context_of(answer_of(made(range(size))), expected_output=[made(range(-size, 0))])
    yield ExpectedGrader(), several
    yield TrajectoryGrader(), several
    yield TrajectoryGrader(order="any_order"), several
    written = answer_of(json.dumps(list(range(2 * size))))
    yield SimilarityGrader("x" * size * 25), context_of(answer_of("y" * size * 25))
    yield JsonEqualsGrader([-1] * 10, unordered=True, within=0.1), context_of(written)


def test_it_is_graded_aside_if_it_may_take_long() -> None:
    for grader, context in many(101):
        outcome = grader.grade(context)
        assert isawaitable(outcome)
        score = settled(outcome)
        assert score.value == 0
        assert score.reason
    for grader, context in many(10):
        assert not isawaitable(grader.grade(context))


@pytest.mark.parametrize("number", range(5))
def test_its_time_limit_ends_it(number: int) -> None:
    grader, context = list(many(500))[number]
    named = NamedGrader("g", grader, timeout_s=0.001)

    async def grade() -> str:
        async with UserCalls() as calls:
            (only,) = (await grade_answer(context, [named], calls)).grades
            return only.reason

    assert run_async(grade()) == "returned no grade within 0.001 s"
