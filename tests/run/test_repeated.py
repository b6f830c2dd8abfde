"""What an agent was given is no part of what it answers, also where it returns all of it."""

import asyncio
from typing import Any

import pytest

from evalcase.runner.calls import Attempted, make_attempt
from evalcase.testing import ScriptedTarget
from evalcase.types.answer import Answer
from evalcase.types.message import Message
from evalcase.types.target import Question, Warn
from evalcase.util.user_calls import UserCalls

ASKED: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "cancel 1"},
    {"role": "assistant", "content": None, "tool_calls": [{"tool": "cancel", "input": {"id": 1}}]},
    {"role": "tool", "content": "done"},
    {"role": "assistant", "content": "ok"},
    {"role": "user", "content": [{"type": "text", "text": "again"}]},
]
OWN = [{"role": "assistant", "content": "ok"}]
OPENAI_CALL = {"type": "function", "function": {"name": "cancel", "arguments": '{"id": 1}'}}
IN_OTHER_FORM = {"role": "assistant", "content": "", "tool_calls": [OPENAI_CALL], "id": "m1"}
AGAIN = {"role": "user", "content": "again"}


def left_of(
    said: list[dict[str, Any]], asked: list[dict[str, Any]] = ASKED, warn: Warn = print
) -> Attempted:
    question = Question(tuple(map(Message, asked)), "s", "one")
    target = ScriptedTarget([Answer(tuple(map(Message, said)))])

    async def ask() -> Attempted:
        return await make_attempt("bot", target, question, 60.0, UserCalls(), warn)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "before",
    [
        ASKED,
        ASKED[1:],
        [{"role": "system", "content": "a prompt of its own"}, *ASKED[1:]],
        [*ASKED[:2], IN_OTHER_FORM, *ASKED[3:5], AGAIN],
        ASKED[3:],
        [AGAIN],
    ],
)
def test_messages_that_were_given_are_left_out(before: list[dict[str, Any]]) -> None:
    left = left_of([*before, *OWN])
    assert left.answer is not None
    assert [*left.answer.messages] == OWN


@pytest.mark.parametrize(
    "said",
    [
        OWN,
        [IN_OTHER_FORM, *OWN],
        [IN_OTHER_FORM, AGAIN, *OWN],
        [{"role": "user", "content": "another"}, *OWN],
        [*ASKED[:3], *OWN],
    ],
)
def test_all_else_is_an_answer(said: list[dict[str, Any]]) -> None:
    left = left_of(said)
    assert left.answer is not None
    assert [*left.answer.messages] == said


@pytest.mark.parametrize(
    ("said", "warned"),
    [
        (OWN, []),
        ([AGAIN, *OWN], ["begin with messages that it was given"]),
        ([{"role": "user", "content": "another"}, *OWN], ["have messages of a user"]),
        ([AGAIN], []),
    ],
)
def test_what_is_left_out_and_what_counts_is_told(
    said: list[dict[str, Any]], warned: list[str]
) -> None:
    told: list[str] = []
    left_of(said, warn=told.append)
    assert [words in text for words, text in zip(warned, told, strict=True)] == [True] * len(warned)
