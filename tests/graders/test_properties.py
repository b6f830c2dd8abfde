"""What holds for all answers and options, whatever they are."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evalcase.config.graders import make_grader
from evalcase.graders.calls import match_in_order
from evalcase.graders.differences import pair_up
from evalcase.runner.grading import grade_answer
from evalcase.types.answer import Answer
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.util.user_calls import UserCalls
from tests.graders.expectation import answer_of, context_of

few = settings(max_examples=max(20, settings().max_examples // 3))
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "B é", "1"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)
data = values.filter(lambda value: value is not None and not isinstance(value, str))
texts = st.text("ab \nÉß", max_size=8)


def grade(spec: dict[str, Any], answer: Answer) -> Grade:
    async def apply() -> Grade:
        context = context_of(answer)
        return (await grade_answer(context, [make_grader(spec)], UserCalls())).grades[0]

    return asyncio.run(apply())


@given(data)
def test_equals_is_reflexive_for_values(value: Any) -> None:
    for kind in ("equals", "json_equals"):
        assert grade({"type": kind, "value": value}, answer_of(value)).passed


@given(texts, st.booleans(), st.booleans())
def test_equals_is_reflexive_for_texts(text: str, case: bool, space: bool) -> None:
    options = {"ignore_case": case, "ignore_space": space}
    assert grade({"type": "equals", "value": text, **options}, answer_of(text)).passed
    assert grade({"type": "one_of", "value": [text], **options}, answer_of(text)).passed
    near = {"type": "similarity", "value": text, "threshold": 1, **options}
    assert grade(near, answer_of(text)).passed


@given(data, data)
def test_what_forgives_more_passes_more(left: Any, right: Any) -> None:
    strict = grade({"type": "json_equals", "value": left}, answer_of(right)).passed
    for more in ({"unordered": True}, {"extra": "allow"}, {"within": 1}, {"ignore": ["a"]}):
        forgiving = grade({"type": "json_equals", "value": left, **more}, answer_of(right)).passed
        assert forgiving or not strict


# Trajectories

inputs = st.none() | st.dictionaries(st.sampled_from("xy"), st.integers(0, 1), max_size=2)
made = st.builds(lambda tool, given: {"tool": tool, "input": given}, st.sampled_from("ab"), inputs)
expected = st.builds(
    lambda tool, given: {"tool": tool} if given is None else {"tool": tool, "input": given},
    st.sampled_from("ab"), inputs,
)  # fmt: skip
modes = st.sampled_from(["exact", "contains", "within", "ignore"])


def calling(calls: list[Any]) -> Answer:
    message: dict[str, Any] = {"role": "assistant", "content": "done"}
    return Answer((Message({**message, "tool_calls": calls} if calls else message),))


@given(st.lists(expected, min_size=1, max_size=4), st.lists(made, max_size=5), modes,
       st.sampled_from(["allow", "forbid"]))  # fmt: skip
def test_orders_are_monotone(wanted: list[Any], calls: list[Any], mode: str, extra: str) -> None:
    base = {"type": "trajectory", "value": wanted, "arguments": mode, "extra": extra}
    grades = [
        grade({**base, "order": order}, calling(calls))
        for order in ("exact", "in_order", "any_order")
    ]
    scores = [each.score or 0.0 for each in grades]
    assert scores == sorted(scores)
    assert [each.passed for each in grades] == sorted(each.passed for each in grades)


@given(st.lists(expected, min_size=1, max_size=4))
def test_calls_are_their_own_trajectory(calls: list[Any]) -> None:
    for order in ("exact", "in_order", "any_order"):
        spec = {"type": "trajectory", "value": calls, "order": order, "extra": "forbid"}
        assert grade(spec, calling(calls)).passed


tables = st.integers(0, 4).flatmap(
    lambda rows: st.integers(0, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.booleans(), min_size=columns, max_size=columns),
            min_size=rows, max_size=rows,
        )
    )
)  # fmt: skip


def most_pairs(alike: list[list[bool]], row: int = 0, taken: frozenset[int] = frozenset()) -> int:
    """By trying everything."""
    if row == len(alike):
        return 0
    best = most_pairs(alike, row + 1, taken)
    for column, fits in enumerate(alike[row]):
        if fits and column not in taken:
            best = max(best, 1 + most_pairs(alike, row + 1, taken | {column}))
    return best


@given(tables)
def test_as_many_are_paired_as_can_be(alike: list[list[bool]]) -> None:
    columns = len(alike[0]) if alike else 0
    found = pair_up(len(alike), columns, lambda a, b: alike[a][b])
    partners = [partner for partner in found if partner is not None]
    assert len(partners) == len(set(partners)) == most_pairs(alike)
    assert all(alike[row][partner] for row, partner in enumerate(found) if partner is not None)
    ordered = match_in_order(len(alike), columns, lambda a, b: alike[a][b])
    kept = [partner for partner in ordered if partner is not None]
    assert kept == sorted(set(kept))
    assert len(kept) <= len(partners)


# Fields and weights

fields = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), min_size=1)


# Combinations

leaves: st.SearchStrategy[dict[str, Any]] = (
    st.sampled_from("abc").map(lambda text: {"type": "contains", "value": text})
    | st.sampled_from([1, 2]).map(lambda most: {"type": "length", "max": most})
    # One that breaks: nobody reports a cost here.
    | st.just({"type": "cost", "value": 1})
)


def negated(spec: dict[str, Any]) -> dict[str, Any]:
    return {**spec, "not": not spec.get("not", False)}


@few
@given(st.lists(leaves, min_size=1, max_size=3), st.sampled_from(["", "a", "ab", "abc"]))
def test_de_morgan(inner: list[dict[str, Any]], text: str) -> None:
    opposite = [negated(each) for each in inner]
    for kind, other in (("all", "any"), ("any", "all")):
        one = grade({"type": kind, "value": inner, "not": True}, answer_of(text))
        two = grade({"type": other, "value": opposite}, answer_of(text))
        assert (one.passed, one.score) == (two.passed, two.score)
        assert (one.failure is None) == (two.failure is None)
