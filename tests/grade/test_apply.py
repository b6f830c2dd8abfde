import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from evalcase.config.graders import NO_SURROUNDINGS, make_grader
from evalcase.graders.base import Context, Grader, NamedGrader, Usable
from evalcase.graders.combine import AllGrader, AnyGrader
from evalcase.graders.expected import ExpectedGrader
from evalcase.graders.python import PythonGrader
from evalcase.runner.grading import Graded, grade_answer, left_to_compare
from evalcase.types.answer import Answer
from evalcase.types.grade import Grade, Score
from evalcase.types.message import Message
from evalcase.types.result import Verdict
from evalcase.types.value import JSON
from evalcase.util.user_calls import UserCalls, waiting_in_queue
from tests.for_each import for_each
from tests.graders.expectation import answer_of, context_of
from tests.util.leaping_loop import run_leaping

HERE = "tests.graders.functions"


class Fixed(Grader):
    """Returns what it is told to, or raises it."""

    name = "fixed"
    description = "As it is told."

    outcome: Any

    def grade(self, context: Context) -> Any:
        del context
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome() if callable(self.outcome) else self.outcome


PASSED = Score(1.0, "good")
FAILED = Score(0.25, "bad")
EXPECTED = NamedGrader("expected", ExpectedGrader())


def named(outcome: Any, name: str = "fixed", **options: Any) -> NamedGrader:
    return NamedGrader(name, Fixed(outcome), **options)


def python(function: str) -> NamedGrader:
    grader = PythonGrader(f"{HERE}:{function}")
    grader.load(NO_SURROUNDINGS)
    return NamedGrader(function, grader)


def grade(
    *graders: NamedGrader, text: str = "4", timeout_s: float = 5.0, **fields: Any
) -> tuple[Verdict, tuple[Grade, ...]]:
    return asyncio.run(apply(graders, answer_of(text), timeout_s, **fields))


async def apply(
    graders: Sequence[NamedGrader], answer: Answer, timeout_s: float = 5.0, **fields: Any
) -> tuple[Verdict, tuple[Grade, ...]]:
    return await grade_answer(context_of(answer, **fields), graders, UserCalls(), timeout_s)


def test_graders_are_applied_in_order_under_their_names_with_their_weights() -> None:
    graders = named(PASSED, "one", weight=3.0), named(FAILED, "two", required=True)
    verdict, grades = grade(*graders, threshold=0.5)
    assert [(each.grader, each.weight, each.required) for each in grades] == [
        ("one", 3.0, False), ("two", 1.0, True)
    ]  # fmt: skip
    assert verdict == "failed"


@for_each(
    ("score", "options", "reason"),
    [
        (Score(0.25, "bad"), {}, "bad (score 0.25, needs 1)"),
        (Score(0.25, "bad", passed=False), {}, "bad (score 0.25)"),
        (Score(0.0, "bad"), {}, "bad"),
        (Score(0.0), {}, "score 0, needs 1"),
        (Score(1.0, "good"), {}, "good"),
        (Score(0.7 + 0.1), {"threshold": 0.8}, "score 0.8, needs 0.8"),
        (
            Score(0.75, "good"),
            {"negated": True, "threshold": 0.5},
            "good (score 0.25); with `not: true` that fails",
        ),
        (Score(None, "nothing"), {}, "nothing"),
    ],
)
def test_the_reason_has_the_score_where_a_part_of_it_was_not_enough(
    score: Score, options: dict[str, Any], reason: str
) -> None:
    (only,) = grade(named(score, **options))[1]
    assert only.reason == reason


def test_fault_11_graders_that_hang_do_not_keep_others_from_being_heard() -> None:
    async def both() -> list[tuple[Verdict, tuple[Grade, ...]]]:
        stuck = [apply([python("hangs")], answer_of("hang"), 0.2) for _ in range(8)]
        fine = [apply([python("hangs")], answer_of("x"), 60.0) for _ in range(8)]
        return await asyncio.gather(*stuck, *fine)

    verdicts = [verdict for verdict, _ in asyncio.run(both())]
    assert verdicts == ["errored"] * 8 + ["passed"] * 8


def test_a_trial_that_is_given_up_stops_its_grader() -> None:
    async def give_up() -> None:
        async with asyncio.timeout(0.05):
            await apply([python("hangs")], answer_of("hang"))

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())


def test_fault_09_an_answer_that_was_cut_does_not_pass_as_equal() -> None:
    answer = answer_of("4", truncated=True)
    verdict, _ = asyncio.run(apply([EXPECTED], answer, expected_output="4"))
    assert verdict == "errored"


# An expected_output is never left unchecked in silence.


@for_each(
    ("fields", "graders", "needed"),
    [
        ({"expected_output": "4"}, [], True),
        ({"expected_output": "4"}, [named(PASSED, "latency")], True),
        ({"expected_output": "4"}, [EXPECTED], False),
        ({"expected_output": "4", "criteria": "is right"}, [], False),
        ({"expected_output": "4", "rubrics": ["is right"]}, [], False),
        ({"expected_output": [{"role": "assistant", "content": None}]}, [], True),
        ({}, [], False),
    ],
)
def test_the_built_in_comparison_is_added_unless_something_compares_or_judges(
    fields: dict[str, Any], graders: list[NamedGrader], needed: bool
) -> None:
    assert bool(left_to_compare(context_of(answer_of(""), **fields).case, graders)) is needed


CALL = {"role": "assistant", "tool_calls": [{"tool": "find"}]}
TEXT = {"role": "assistant", "content": "It rains."}


@for_each(
    ("expected", "graders", "left"),
    [
        ([CALL, TEXT], [], {"calls", "content"}),
        ([CALL, TEXT], ["trajectory"], {"content"}),
        ([CALL, TEXT], ["similarity"], {"calls"}),
        ([CALL, TEXT], ["trajectory", "similarity"], set()),
        ([CALL, TEXT], ["expected"], set()),
        ([CALL], ["similarity"], {"calls"}),
        ([TEXT], ["trajectory"], {"content"}),
        ([{**CALL, "content": ""}], ["trajectory"], set()),
    ],
)
def test_what_a_grader_does_not_compare_is_left_to_the_built_in_comparison(
    expected: list[Any], graders: list[str], left: set[str]
) -> None:
    case = context_of(answer_of(""), expected_output=expected).case
    made = [make_grader({"type": name, "threshold": 0.5}) for name in graders]
    assert left_to_compare(case, made) == left
    inside = [replace(each, grader=AllGrader((each,))) for each in made]
    assert left_to_compare(case, inside) == left, "also inside of others"


def test_an_expected_output_with_nothing_to_compare_is_ungraded_and_says_so() -> None:
    nothing = [{"role": "user", "content": "x"}]
    verdict, grades = grade(named(PASSED), EXPECTED, expected_output=nothing)
    assert verdict == "ungraded"
    assert "nothing to compare" in grades[1].reason


def test_a_time_limit_does_not_count_what_a_question_waits_for_its_turn() -> None:
    async def busy(
        target: str, messages: Sequence[Message], schema: JSON, usable: Usable | None
    ) -> Answer:
        del target, messages, schema, usable
        with waiting_in_queue():
            await asyncio.sleep(60)
        return Answer.of_text("yes")

    async def ask(context: Context) -> Score:
        answers = [context.ask("judge", ()), context.ask("judge", ())]
        return Score(float([each.text for each in await asyncio.gather(*answers)] == ["yes"] * 2))

    async def go() -> Graded:
        async with UserCalls() as calls:
            context = replace(context_of(answer_of("4")), asker=busy)
            return await grade_answer(context, [NamedGrader("asks", Asks(ask))], calls, 1.0)

    assert run_leaping(go()).verdict == "passed"


def test_those_inside_of_a_grader_have_their_own_time_limits() -> None:
    slow = named(later, timeout_s=2.0)
    deep = NamedGrader("all", AllGrader((NamedGrader("any", AnyGrader((slow, named(FAILED)))),)))

    async def go(*graders: NamedGrader) -> Graded:
        async with UserCalls() as calls:
            return await grade_answer(context_of(answer_of("4")), graders, calls, 0.5)

    assert run_leaping(go(slow)).verdict == "passed"
    assert run_leaping(go(deep)).verdict == "passed"
    late = run_leaping(go(NamedGrader("any", AnyGrader((named(later), named(PASSED))))))
    assert late.grades[0].reason == "`fixed`: returned no grade within 0.5 s"
    own = run_leaping(go(replace(deep, timeout_s=0.7)))
    assert own.grades[0].reason == "returned no grade within 0.7 s"


def test_what_a_grader_asks_is_counted_also_if_it_compares_with_what_is_expected() -> None:
    async def paid(
        target: str, messages: Sequence[Message], schema: JSON, usable: Usable | None
    ) -> Answer:
        del target, messages, schema, usable
        return replace(Answer.of_text("yes"), cost_usd=0.25)

    async def ask(context: Context) -> Score:
        await context.ask("embedder", ())
        return Score(float(len(context.grades) == 1))

    async def go() -> Graded:
        async with UserCalls() as calls:
            context = replace(context_of(answer_of("4")), asker=paid)
            graders = [named(PASSED), NamedGrader("near", Nears(ask))]
            return await grade_answer(context, graders, calls)

    _, (_, near) = asyncio.run(go())
    assert (near.passed, near.asked, near.cost_usd) == (True, 1, 0.25)


class Asks(Grader):
    name = "asks"
    description = "Asks."

    function: Any

    def grade(self, context: Context) -> Any:
        return self.function(context)


class Nears(Asks):
    name = "near"
    description = "Is near."


@for_each("value", [0.0, 0.5, 1.0])
def test_a_score_that_stands_is_not_turned_round(value: float) -> None:
    _, (grade_,) = grade(named(Score(value, "nothing there", stands=True), negated=True))
    assert (grade_.score, grade_.passed) == (value, False)


class AllBefore(Fixed):
    name = "all_before"
    description = "As it is told."

    def reads_grades(self) -> bool:
        return True

    def grade(self, context: Context) -> Any:
        return Score(1.0, " ".join([each.grader for each in context.grades]))


class DoneBefore(AllBefore):
    name = "done_before"
    description = "As it is told."

    def reads_grades(self) -> bool:
        return False


async def later() -> Score:
    await asyncio.sleep(1)
    return PASSED


async def soon() -> Score:
    return PASSED


def test_a_grader_sees_the_grades_that_are_done_and_one_that_reads_them_waits_for_all() -> None:
    graders = [
        named(PASSED, "at once"),
        named(later, "awaited"),
        NamedGrader("some", DoneBefore(None)),
        NamedGrader("all", AllBefore(None)),
        named(later, "after it"),
        NamedGrader("last", AllBefore(None)),
    ]
    _, grades = run_leaping(apply(graders, answer_of("4")))
    assert [each.grader for each in grades] == [each.name for each in graders]
    reasons = {each.grader: each.reason for each in grades}
    assert reasons["some"] == "at once"
    assert reasons["all"] == "at once awaited some"
    assert reasons["last"] == "at once awaited some all after it"


def test_a_function_that_asks_for_grades_is_given_those_of_all_before_it() -> None:
    spec = {"type": f"python:{HERE}:counts_grades"}
    last = make_grader(spec)
    last.grader.load(NO_SURROUNDINGS)
    _, (*_, told) = grade(named(soon, "awaited"), named(FAILED, "bad"), last)
    assert told.reason == "awaited passed, bad failed"
