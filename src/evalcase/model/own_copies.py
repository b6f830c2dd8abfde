"""Copies for code of the user's: whatever that does to what it is given, nobody else sees it.

Messages hold plain dicts and lists, and grades hold details, which anybody can write into. Who
writes into them must not change what others are asked, what is graded and what is recorded. A case
needs no copy: all that it gives away is fresh.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.model.answer import Answer
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.json_value import copy_value
from evalcase.model.message import Message
from evalcase.model.question import Question
from evalcase.model.step import Step
from evalcase.model.value import replace


def copy_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple([Message.copy_of(message) for message in messages])


def copy_question(question: Question) -> Question:
    return replace(
        question,
        messages=copy_messages(question.messages),
        metadata=copy_value(question.metadata),
        files=dict(question.files),
        schema=copy_value(question.schema),
    )


def copy_answer(answer: Answer) -> Answer:
    """An answer that is nothing but texts is given as it is: nobody can change it."""
    texts = all(isinstance(value, str) for message in answer.messages for value in message.values())
    if texts and not answer.steps:
        return answer
    messages = copy_messages(answer.messages)
    return replace(answer, messages=messages, steps=copy_steps(answer.steps))


def copy_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple([replace(step, input=copy_value(step.input)) for step in steps])


def copy_grade(grade: Grade) -> Grade:
    failure = grade.failure
    if failure is not None:
        failure = Failure(failure.kind, failure.message, copy_value(failure.details))
    return replace(grade, details=copy_value(grade.details), failure=failure)
