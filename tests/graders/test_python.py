import asyncio
import sys
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

from evalcase.config.graders import NO_SURROUNDINGS
from evalcase.errors import ConfigError
from evalcase.graders.base import Context, NamedGrader
from evalcase.graders.python import PythonGrader
from evalcase.runner.grading import grade_answer
from evalcase.types.grade import Grade
from evalcase.types.read_options import problems_in
from evalcase.util.code import sources_of_module
from evalcase.util.user_calls import UserCalls
from tests.for_each import for_each
from tests.graders import functions
from tests.graders.expectation import answer_of, context_of

HERE = "tests.graders.functions"


def call(name: str, answer: str = "four", threshold: float | None = None, **fields: Any) -> Grade:
    grader = NamedGrader("python", loaded(PythonGrader(f"{HERE}:{name}")), threshold=threshold)
    return asyncio.run(_grade(grader, context_of(answer_of(answer), **fields)))


def loaded(grader: PythonGrader) -> PythonGrader:
    grader.load(NO_SURROUNDINGS)
    return grader


async def _grade(grader: NamedGrader, context: Context) -> Grade:
    graded = await grade_answer(context, [grader], UserCalls())
    return graded.grades[0]


def returning(value: Any, threshold: float | None = None) -> Grade:
    functions.RETURNED["it"] = value
    return call("returns", "it", threshold)


def test_a_function_gets_what_its_parameters_name() -> None:
    call("takes_all", "four", expected_output="4", metadata={"k": 1})
    seen = functions.seen
    assert seen["text"] == seen["output"] == seen["answer"].text == "four"
    assert seen["messages"] == seen["answer"].messages
    assert seen["case"].id == "a"
    assert seen["input"] == seen["case"].input
    assert seen["expected"] == "4"
    assert seen["metadata"] == {"k": 1}
    assert [call.name for call in seen["tool_calls"]] == []
    assert seen["question"].text == "?"
    assert seen["context"].answer.text == "four"
    assert (seen["odd"], seen["more"]) == (3, {})


@for_each("name", ["is_short", "is_short_async", "gives_coroutine", "longer"])
def test_functions_may_be_plain_async_or_objects(name: str) -> None:
    assert call(name).passed


def test_a_function_may_return_a_boolean() -> None:
    yes, no = returning(True), returning(False)
    assert (yes.score, yes.passed, yes.reason) == (1.0, True, "the function returned True")
    assert (no.score, no.passed, no.reason) == (0.0, False, "the function returned False")


@for_each(
    ("number", "threshold", "passed"),
    [
        (1, 1.0, True),
        (0.7, 1.0, False),
        (0.7, 0.7, True),
        (Fraction(1, 2), 0.5, True),
    ],
)
def test_a_number_passes_from_the_threshold_on(number: Any, threshold: float, passed: bool) -> None:
    grade = returning(number, threshold)
    assert (grade.score, grade.passed) == (float(number), passed)
    assert grade.reason.startswith("score ")


@for_each(
    ("mapping", "threshold", "passed"),
    [
        ({"score": 0.2, "passed": True}, 0.9, False),
        ({"score": 0.95, "passed": False}, 0.9, False),
    ],
)
def test_a_threshold_that_is_given_counts_beside_what_the_function_says(
    mapping: Any, threshold: float, passed: bool
) -> None:
    grade = returning(mapping, threshold)
    assert grade.passed is passed
    if mapping["score"] < threshold:
        assert grade.reason == "score 0.2, needs 0.9"


@for_each(
    ("mapping", "score", "passed"),
    [
        ({"score": 0.5}, 0.5, False),
        ({"score": 0.5, "passed": True}, 0.5, True),
        ({"passed": True, "reason": "good"}, 1.0, True),
        ({"passed": False}, 0.0, False),
        ({"score": True, "details": {"n": 1}}, 1.0, True),
    ],
)
def test_a_function_may_return_a_mapping(mapping: Any, score: float, passed: bool) -> None:
    grade = returning(mapping)
    assert (grade.score, grade.passed) == (score, passed)
    assert grade.reason == mapping.get("reason", grade.reason)
    assert grade.details == mapping.get("details", {})


def test_a_function_may_return_a_score() -> None:
    grade = call("compares", "4", expected_output="4")
    assert grade == Grade("python", 1.0, True, "a compared", {"n": 1})


@for_each(
    ("value", "said"),
    [
        (None, "returned nothing"),
        (" ", "returned ' '"),
        (Grade("g", 1.0, True, ""), "returned a Grade"),
        (1.5, "returned 1.5"),
        (float("nan"), "returned nan"),
        ((0.5, "x", 1), "returned a tuple"),
        ((0.5, 1), "got `int` - at `$.reason`"),
        ({}, "returned neither a score"),
        ({"score": "high"}, "returned 'high'"),
        ({"pass": True, "score": 1}, "unknown field `pass`"),
        ({"passed": 1}, "got `int` - at `$.passed`"),
        ({"passed": True, "details": 3}, "got `int` - at `$.details`"),
    ],
)
def test_anything_else_is_an_error_and_never_a_score(value: Any, said: str) -> None:
    grade = returning(value)
    assert (grade.score, grade.passed) == (None, False)
    assert grade.failure is not None
    assert grade.failure.kind == "grader"
    assert said in grade.failure.message
    assert "return True or False, a number from 0 to 1" in grade.failure.message


@for_each(
    ("value", "said"),
    [
        ("no.such.module:grade", "there is no module `no`;"),
        (f"{HERE}:nothing", "has no `nothing`"),
        (f"{HERE}:constant", "is not a function"),
        (f"{HERE}:wants", "a parameter `response`; a grader can be given answer, text"),
    ],
)
def test_what_cannot_be_called_is_found_before_anything_runs(value: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        PythonGrader(value).load(NO_SURROUNDINGS)


@pytest.mark.parametrize("module", ["__main__", "builtins", "gone"])
def test_a_function_of_a_notebook_or_of_no_module_has_no_file(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    def fine(text: str) -> bool:
        return bool(text)

    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    fine.__module__ = module
    [named] = PythonGrader.of(fine).modules()
    assert sources_of_module(named, ".") == {}


async def _many(name: str, count: int) -> list[Grade]:
    grader, context = (
        NamedGrader("python", loaded(PythonGrader(f"{HERE}:{name}"))),
        context_of(answer_of("x")),
    )
    return await asyncio.gather(*[_grade(grader, context) for _ in range(count)])


def test_slow_functions_do_not_wait_for_each_other() -> None:
    grades = asyncio.run(_many("meets_others", functions.PARTIES))
    assert all(grade.passed for grade in grades), "each waits until all of them are there"


def with_arguments(name: str, **arguments: Any) -> PythonGrader:
    return PythonGrader(f"{HERE}:{name}", arguments)


def test_arguments_are_given_by_name_and_are_fresh_in_each_call() -> None:
    grader = loaded(with_arguments("at_least", least=4, words=["a"]))
    named = NamedGrader("python", grader)
    for text, passed in (("four", True), ("two", False)):
        grade = asyncio.run(_grade(named, context_of(answer_of(text))))
        assert grade.passed is passed
    assert grader.arguments == {"least": 4, "words": ["a"]}
    wanted = NamedGrader("python", loaded(with_arguments("takes_more", wanted="four")))
    assert asyncio.run(_grade(wanted, context_of(answer_of("four")))).passed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`at_least` has a parameter `least`"),
        ({"least": 1, "lest": 2}, "`at_least` has no parameter `lest`"),
    ],
)
def test_arguments_that_do_not_fit_are_told_before_the_run(arguments: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_arguments("at_least", **arguments).load(NO_SURROUNDINGS)
    assert message in str(caught.value)


def test_arguments_that_evalcase_gives_itself_are_found_by_check() -> None:
    (fault,) = problems_in(PythonGrader, {"value": "a:b", "arguments": {"text": 1}}, "it")
    assert (fault.path, fault.message) == (("arguments", "text"), "`text` is given by evalcase")


def test_a_function_that_is_given_what_is_expected_compares_with_it() -> None:
    for name, compares in (("compares", True), ("is_short", False)):
        grader = PythonGrader(f"{HERE}:{name}")
        assert not grader.compares(), "it is not imported to be asked"
        grader.load(NO_SURROUNDINGS)
        assert bool(grader.compares()) is compares
    assert PythonGrader.of(functions.compares).compares()
