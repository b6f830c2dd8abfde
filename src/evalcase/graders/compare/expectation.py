"""What is expected and what was answered, compared by the shape of what is expected. Most answers
are the very text that is expected: for them nobody has to come here."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Sequence
from typing import NamedTuple

from evalcase.graders.compare.content import ContentMatch, compare_content
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.grader import Half
from evalcase.types.message import Message, ToolCall
from evalcase.types.value import JSON
from evalcase.util.answers import is_comparable

_NOTHING = (
    "there is nothing to compare: `expected_output` has neither tool calls nor content of the "
    "assistant that is text or data"
)
_ABSENT = "there is nothing to compare: the case has no `expected_output`"


class _Expectation(NamedTuple):
    calls: list[ToolCall]
    content: JSON
    """The last content of the assistant; what comes before it is context."""


def compare_expected(
    messages: Sequence[Message], answer: Answer, halves: Collection[Half]
) -> Score | Awaitable[Score]:
    """The score of an answer by the messages that are expected, or by one half of what they say."""
    calls, content = _read_expectation(messages)
    content = content if "content" in halves else None
    if calls and "calls" in halves:
        from evalcase.graders.compare.steps import grade_steps

        return grade_steps(calls, content, answer)
    if not is_comparable(content):
        return Score(None, _NOTHING if messages else _ABSENT)
    return _grade_content(compare_content(content, answer))


def _read_expectation(messages: Sequence[Message]) -> _Expectation:
    said = [message for message in messages if message.role == "assistant"]
    contents = [message.content for message in said if message.content is not None]
    calls = [call for message in said for call in message.tool_calls]
    return _Expectation(calls, contents[-1] if contents else None)


def _grade_content(comparison: ContentMatch) -> Score:
    unseen = comparison.is_unseen
    return Score(
        float(comparison.equal), comparison.reason, dict(comparison.details),
        False if unseen else None, stands=unseen,
    )  # fmt: skip
