import asyncio

import pytest

from evalcase.errors import TargetError
from evalcase.testing import HANGS, FixedGrader, ScriptedTarget, crashes, fails, passes
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.target import Question
from tests.graders.expectation import context_of
from tests.targets.questions import question


def answers(target: ScriptedTarget, *questions: Question) -> list[str]:
    async def go() -> list[str]:
        return [(await target.answer(each)).text for each in questions]

    return asyncio.run(go())


def test_steps_in_a_list_are_taken_in_order() -> None:
    target = ScriptedTarget(["a", {"role": "assistant", "content": "b"}, Answer.of_text("c")])
    assert answers(target, question(id="x"), question(id="y"), question(id="x")) == ["a", "b", "c"]
    assert [each.case for each in target.asked] == ["x", "y", "x"]


def test_steps_by_case_are_one_for_all_times_or_a_list() -> None:
    target = ScriptedTarget({"x": "always", "y": ["first", "then"]})
    asked = (question(id="y"), question(id="x"), question(id="y"), question(id="x"))
    assert answers(target, *asked) == ["first", "always", "then", "always"]


def test_an_exception_is_raised() -> None:
    with pytest.raises(KeyError):
        answers(ScriptedTarget([KeyError("x")]), question())


def test_a_step_that_hangs_is_ended_from_outside() -> None:
    async def go() -> None:
        async with asyncio.timeout(0.01):
            await ScriptedTarget([HANGS]).answer(question())

    with pytest.raises(TimeoutError):
        asyncio.run(go())


def test_a_script_that_has_come_to_its_end_says_so() -> None:
    with pytest.raises(TargetError, match="ends after 1 steps, and case `y`"):
        answers(ScriptedTarget(["a"]), question(id="x"), question(id="y"))
    with pytest.raises(TargetError, match="nothing for case `y`"):
        answers(ScriptedTarget({"x": "a"}), question(id="y"))


def test_fixed_grades() -> None:
    answer = Answer.of_text("anything")
    assert FixedGrader().grade(context_of(answer)) == Score(1.0, "fixed")
    assert FixedGrader(0.5, "half").grade(context_of(answer)) == Score(0.5, "half")
    assert (passes(answer), fails(answer)) == (True, False)
    with pytest.raises(RuntimeError, match="anything"):
        crashes(answer)
