"""What nobody can mean is refused where it is made, and not when it is used later."""

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
        (lambda: of.Score(7), "the score 7, which is not a number from 0 to 1"),
        (lambda: of.Score(-0.1), "the score -0.1"),
        (lambda: of.Score(math.nan), "the score nan"),
        (lambda: of.Score(True), "the score True"),
        (lambda: of.Score("1"), "the score '1'"),
        (lambda: of.Score(1.0, None), "NoneType as the reason"),
        (lambda: of.Score(1.0, "", ["a"]), "list as the details"),
        (lambda: of.Score(1.0, passed="yes"), "'yes' as `passed`"),
        (lambda: of.Score(None, passed=True), "that it passed, without a score"),
        (lambda: of.Grade("g", 7, True, ""), "a Grade has a score from 0 to 1, or None, not 7"),
        (lambda: of.Grade("g", 1.0, 1, ""), "`passed` of a Grade is True or False, not 1"),
        (lambda: of.Usage(-1), "`usage` counts tokens from 0, and has -1"),
        (lambda: of.Usage(True), "and has True"),
        (lambda: of.Usage("12"), "and has '12'"),
        (lambda: of.Answer("4"), r"is a tuple of Message, not '4'; Answer.of_text\(…\)"),
        (lambda: of.Answer([SAID]), "is a tuple of Message, not"),
        (lambda: of.Answer(("4",)), "is a tuple of Message, not"),
        (lambda: of.Answer((SAID,), usage=3), "`usage` of an Answer is a Usage, not 3"),
        (lambda: of.Answer((SAID,), cost_usd="1"), "`cost_usd` of an Answer is a number from 0"),
        (lambda: of.Answer((SAID,), cost_usd=math.inf), "not inf"),
        (lambda: of.Answer.of_text(4), "takes text, not int"),
        (lambda: of.Answer.of_text("4", cost_usd=-1), "a number from 0"),
        (lambda: of.Answer.of_text("4", usage={"input_tokens": 1}), "is a Usage"),
        (lambda: of.Question("hi"), "`messages` of a Question is a tuple"),
        (lambda: of.Message("hi"), "a Message is made of a mapping"),
        (lambda: of.Message(7), "not of 7"),
        (of.Message, "one of the roles system, .*, not None"),
        (lambda: of.Message({"role": "human", "content": "x"}), "did you mean 'user'"),
        (lambda: of.Message({"role": "usr", "content": "x"}), "did you mean 'user'"),
        (lambda: of.Message({"role": "user"}), "`content` or `tool_calls`"),
        (lambda: of.Message(role="assistant", tool_calls=[{"input": 1}]), "the name of a tool"),
        (lambda: of.Suite("p", {}, ()), "a Suite has a `name`"),
        (lambda: of.Suite("p", {"name": "a"}, [CASE]), "a tuple of Case"),
        (lambda: of.Suite("p", {"name": "a"}, ({"input": "x"},)), "a tuple of Case"),
    ],
)
def test_nonsense_is_refused_at_once(make: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_what_makes_sense_is_taken() -> None:
    assert of.Score(1).value == 1
    assert of.Score(None).value is None
    assert of.Message(role="user", content=None).content is None
    assert of.Message(role="user", content="x") == {"role": "user", "content": "x"}
    assert of.Answer((SAID,), of.Usage(0, None, 3), 0).cost_usd == 0
