"""Short ways to a trial and an answer, for tests of graders."""

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

from evalcase import parse_case
from evalcase.graders.base import Context, NamedGrader
from evalcase.graders.expected import ExpectedGrader
from evalcase.runner.grading import grade_of
from evalcase.types.answer import Answer
from evalcase.types.grade import Grade, Score
from evalcase.types.message import Message
from evalcase.types.target import Question


def context_of(answer: Answer, **fields: Any) -> Context:
    """An answer as a grader sees it, to a case with some fields."""
    case = parse_case(json.dumps({"id": "a", "input": "?", **fields}))
    return Context(case, Question(case.input, case.id), answer)


def answer_of(*messages: Any, **fields: Any) -> Answer:
    """A message is written whole, or as its content."""
    return Answer(tuple(_message(each) for each in messages), **fields)


def _message(written: Any) -> Message:
    if isinstance(written, dict) and "role" in written:
        return Message(written)
    return Message({"role": "assistant", "content": written})


def calls(*written: Any, content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(written)}


def compare(expected: Any, *answer: Any, **fields: Any) -> Grade:
    return grade_expected(context_of(answer_of(*answer, **fields), expected_output=expected))


def grade_expected(context: Context) -> Grade:
    return grade_of(_EXPECTED, settled(ExpectedGrader().grade(context)))


def settled(outcome: Score | Awaitable[Score]) -> Score:
    """What a grader comes to, waited for if need be."""
    if isinstance(outcome, Score):
        return outcome

    async def wait() -> Score:
        return await outcome

    return asyncio.run(wait())


_EXPECTED = NamedGrader("expected", ExpectedGrader())
