"""Python code that makes a noun of something else learns it where it does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import evalcase
from tests.for_each import for_each

of: Any = evalcase
"""Names of which no type says what they take."""

SAID = of.Message({"role": "assistant", "content": "4"})
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
        (lambda: of.Answer((SAID,), usage=3), "`usage` of an Answer is a Usage, not 3"),
        (lambda: of.Answer((SAID,), cost_usd=math.inf), "is a number from 0, not inf"),
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
    assert of.Answer((SAID,), of.Usage(0, None, 3), 0).cost_usd == 0
