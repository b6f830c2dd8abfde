"""Whom a grader asks, and with what."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from evalcase.graders.base import Context, Usable
from evalcase.types.answer import Answer
from evalcase.types.message import Message
from evalcase.types.value import JSON
from tests.for_each import for_each
from tests.graders.expectation import answer_of, context_of

SAID = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}


def messages_asked(messages: Any) -> Sequence[Message]:
    """What the target is given of what a grader asks."""
    given: list[Message] = []

    async def answer(_: str, asked: Sequence[Message], __: JSON, ___: Usable | None) -> Answer:
        given.extend(asked)
        return Answer.of_text("yes")

    trial = context_of(answer_of("four"))
    context = Context(trial.case, trial.question, trial.answer, asker=answer)
    asyncio.run(context.ask("critic", messages))
    return given


def test_mappings_are_messages_too() -> None:
    given = messages_asked([SAID, Message(SAID)])
    assert [type(each) for each in given] == [Message, Message]
    assert given == [SAID, SAID]


@for_each(
    ("messages", "said"),
    [
        ("Hi", "a Message is made of a mapping"),
        ([5], "a Message is made of a mapping"),
        (SAID, "a Message is made of a mapping"),
        ([{"content": "Hi"}], "a Message has one of the roles"),
        ([{"role": ["user"], "content": "Hi"}], "one of the roles system, developer, user"),
    ],
)
def test_what_is_no_message_is_told_to_who_asks(messages: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        messages_asked(messages)
    assert said in str(caught.value)
