"""`assert_case`: an answer that a test has, graded by a case."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Case, ConfigError, GraderError, Result

Assert = Callable[..., Result]


def in_a_loop(*arguments: Any, **options: Any) -> Result:
    """The plain function, where an event loop is running."""

    async def test() -> Result:
        return evalcase.assert_case(*arguments, **options)

    return asyncio.run(test())


def awaited(*arguments: Any, **options: Any) -> Result:
    return asyncio.run(evalcase.assert_case_async(*arguments, **options))


@pytest.fixture(params=[evalcase.assert_case, in_a_loop, awaited], ids=["plain", "loop", "async"])
def assert_case(request: pytest.FixtureRequest) -> Assert:
    function: Assert = request.param
    return function


pytestmark = pytest.mark.usefixtures("folder")


SUM = Case(id="sum", input="What is 2+2?", expected_output="4")


def test_an_answer_that_passes_gives_its_result(assert_case: Assert) -> None:
    result = assert_case("4", SUM)
    assert (result.verdict, result.score) == ("passed", 1.0)


def test_one_that_fails_is_an_assertion_error_with_the_difference(assert_case: Assert) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_case("5", SUM)
    assert str(raised.value).splitlines() == [
        "case `sum` failed",
        "  input     What is 2+2?",
        "  expected   │ got",
        "  4          │ 5",
    ]


def test_a_grader_that_breaks_is_no_assertion_error(assert_case: Assert) -> None:
    case = Case(id="sum", input="?", graders=["python:evalcase.testing:crashes"])
    with pytest.raises(GraderError, match="case `sum` errored") as raised:
        assert_case("5", case)
    assert not isinstance(raised.value, AssertionError)
    assert "a grader that always crashes" in str(raised.value)


def test_answers_have_any_form_that_targets_return() -> None:
    call = {"role": "assistant", "tool_calls": [{"tool": "add", "input": {"a": 2, "b": 2}}]}
    tools = Case(input="2+2?", expected_output=call)
    assert evalcase.assert_case([call], tools).verdict == "passed"
    data = Case(input="2+2?", expected_output={"sum": 4})
    assert evalcase.assert_case({"sum": 4.0}, data).verdict == "passed"


def test_latency_is_known_only_to_who_asked() -> None:
    case = Case(id="soon", input="x", graders=[{"latency": 2}])
    assert evalcase.assert_case("x", case, duration_s=1.5).verdict == "passed"
    with pytest.raises(AssertionError, match=r"it took 2.5 s"):
        evalcase.assert_case("x", case, duration_s=2.5)
    with pytest.raises(GraderError, match=r"took is not known[\s\S]*duration_s="):
        evalcase.assert_case("x", case)


def test_repeats_and_skips_are_for_who_runs_the_test() -> None:
    data = {"id": "a", "input": "x", "expected_output": "x", "skip": "later", "repeat": 5}
    assert evalcase.assert_case("x", Case(**data)).repeats == 1


def test_a_conversation_is_refused() -> None:
    talk = Case(turns=[{"input": "a", "expected_output": "b"}])
    with pytest.raises(ConfigError, match="is a conversation"):
        evalcase.assert_case("b", talk)


def test_nothing_is_recorded(folder: Path) -> None:
    evalcase.assert_case("4", SUM)
    assert [path.name for path in folder.iterdir()] == ["evalcase.toml"]
