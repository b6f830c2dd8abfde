"""Values are written as JSON and read back as the same; nothing else is read."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from msgspec import Struct

import evalcase
from evalcase.config.options import RunOptions, Selection, Shard
from evalcase.types.answer import Answer, Earlier, Failure, Usage
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
