"""Values are written as JSON and read back as the same; nothing else is read."""

import inspect
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import fields

import evalcase
from evalcase.config.options import RunOptions, Selection, Shard
from evalcase.format.fields import WrittenTurn, WrittenUser, field_names
from evalcase.runner.hashes import DECIDES_NOTHING, OF_GRADING, OF_QUESTION
from evalcase.types.answer import Answer, Earlier, Failure, SimulatedUser, Usage
from evalcase.types.case import FIELDS, TURN_FIELDS, check_case, field_types
from evalcase.types.grade import Grade
from evalcase.types.message import Message, Step
from evalcase.types.result import Result
from evalcase.types.target import TrialKey
from evalcase.types.value import decode_object, encode_object
from tests.for_each import for_each

SAID = Message({"role": "assistant", "content": "4"})
ANSWER = Answer(
    (SAID, SAID), Usage(1, 2), 0.5, earlier=Earlier(1.5),
    steps=(Step("ask", "model", input=["a", "b"]), Step("look", "tool")),
)  # fmt: skip
GRADES = (Grade("equals", 1.0, True, "as expected"), Grade("judge", 0.0, False, "bad", {"at": 1}))
VALUES: list[Any] = [
    Usage(), Usage(0, None, 3), ANSWER, Answer((SAID,)), RunOptions(),
    RunOptions(("a", "b"), ("echo",), Selection(tags=("new",), shard=Shard(1, 2)), repeat=3),
    Result(TrialKey("sums", "one", "echo", 1), "hash", "passed", ANSWER, GRADES),
    Result(TrialKey("sums", "two", "echo", 1), "hash", "errored", failure=Failure("timeout", "?")),
]  # fmt: skip


@for_each("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_read_as_it_was_written(value: Any) -> None:
    assert decode_object(type(value), encode_object(value)) == value


def test_fields_that_have_their_defaults_are_left_out() -> None:
    assert encode_object(Answer((SAID,))) == {"messages": [SAID]}


@for_each(
    ("data", "said"),
    [
        ({"messages": []}, ""),
        ({"messages": [], "cost_usd": -1}, "cost_usd"),
        ({"messages": [], "usage": {"input_tokens": "3"}}, "usage.input_tokens"),
        ({"messages": [], "usage": {"input_tokens": True}}, "usage.input_tokens"),
        ({"messages": [], "more": 1}, "more"),
        ({"messages": [{"content": "x"}]}, r"messages.0"),
        ({"messages": [{"role": "assistant", "tool_calls": [3]}]}, r"messages.0"),
        ({}, "messages"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(data: Any, said: str) -> None:
    if not said:
        assert decode_object(Answer, data) == Answer(())
        return
    with pytest.raises(ValueError, match=said):
        decode_object(Answer, data)


def test_public_types_have_signatures() -> None:
    for name in evalcase.__all__:
        each = getattr(evalcase, name)
        if isinstance(each, type) and issubclass(each, Struct):
            inspect.signature(each)


# Python code that makes a noun of something else learns it where it does


of: Any = evalcase
"""Names of which no type says what they take."""

ODD_WORDS = of.Message({"role": "assistant", "content": "4"})
CASE = of.Case(id="a", input="x")


@for_each(
    ("make", "words"),
    [
        (lambda: of.Score(math.nan), "the value of a Score is a number from 0 to 1, not nan"),
        (lambda: of.Score(True), "not True"),
        (lambda: of.Score(1.0, None), "the reason of a Score is text, not None"),
        (lambda: of.Score(1.0, "", ["a"]), "the details of a Score are a dict"),
        (lambda: of.Score(1.0, passed="yes"), "`passed` of a Score is a boolean, not 'yes'"),
        (lambda: of.Score(None, passed=True), "a Score that passed has a value"),
        (lambda: of.Usage(True), "`usage` counts tokens from 0, not True"),
        (lambda: of.Answer("4"), r"is a tuple of Message, not '4'; Answer.of_text\(…\)"),
        (lambda: of.Answer((ODD_WORDS,), usage=3), "`usage` of an Answer is a Usage, not 3"),
        (lambda: of.Answer((ODD_WORDS,), cost_usd=math.inf), "is a number from 0, not inf"),
        (lambda: of.Answer.of_text(4), "takes text, not 4"),
        (lambda: of.Question("hi"), "`messages` of a Question is a tuple"),
        (lambda: of.Message("hi"), "a Message is made of a mapping"),
        (lambda: of.Message({"role": "human", "content": "x"}), "did you mean 'user'"),
        (lambda: of.Message({"role": "user"}), "`content` or `tool_calls`"),
        (lambda: of.Message(role="assistant", tool_calls=[{"input": 1}]), "the name of a tool"),
        (lambda: of.Suite("p", {}, ()), "a Suite has a `name`"),
        (lambda: of.Suite("p", {"name": "a"}, [CASE]), "a tuple of Case"),
    ],
)
def test_nonsense_is_refused_at_once(make: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_what_makes_sense_is_taken() -> None:
    assert of.Score(1).value == 1
    assert of.Score(None).value is None
    assert of.Message(role="user", content="x") == {"role": "user", "content": "x"}
    assert of.Answer((ODD_WORDS,), of.Usage(0, None, 3), 0).cost_usd == 0


# Case fields


def names(wanted: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(wanted))


def test_the_fields_of_a_recorded_case_are_those_of_the_canonical_form() -> None:
    assert field_types().keys() == {*FIELDS}
    assert field_names(WrittenTurn) == TURN_FIELDS
    assert names(SimulatedUser) == field_names(WrittenUser)


def test_of_every_field_it_is_said_what_it_decides() -> None:
    said = {*OF_QUESTION, *OF_GRADING}
    assert said.isdisjoint(DECIDES_NOTHING)
    assert said | DECIDES_NOTHING == {*FIELDS}


def test_every_valid_case_can_be_read_from_a_record() -> None:
    corpus = Path(__file__).parent.parent / "corpus" / "canonical.json"
    cases = [case for suite in json.loads(corpus.read_text()).values() for case in suite["cases"]]
    assert len(cases) > 100
    for case in cases:
        check_case(case)
