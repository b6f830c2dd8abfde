"""What is expected and what was answered, compared by the shape of what is expected. Most answers
are the very text that is expected: for them nobody has to come here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from evalcase.graders.compare.call_match import (
    Call,
    Match,
    describe_calls,
    match_calls,
    read_calls,
    takes_long,
)
from evalcase.graders.compare.call_rows import align_calls
from evalcase.graders.compare.content import ContentMatch, compare_content
from evalcase.model.answer import Answer
from evalcase.model.grade import Score
from evalcase.model.grader import Half
from evalcase.model.json_value import JSON
from evalcase.model.message import Message
from evalcase.model.quick_tuple import NamedTuple
from evalcase.text.answer_value import is_comparable

_NOTHING = (
    "there is nothing to compare: `expected_output` has neither tool calls nor content of the "
    "assistant that is text or data"
)
_ABSENT = "there is nothing to compare: the case has no `expected_output`"


class _Expectation(NamedTuple):
    calls: list[Call]
    content: JSON
    """The last content of the assistant; what comes before it is context."""


def compare_expected(
    messages: Sequence[Message], answer: Answer, halves: Collection[Half]
) -> Score | Awaitable[Score]:
    """The score of an answer by the messages that are expected, or by one half of what they say."""
    calls, content = _read_expectation(messages)
    calls = calls if "calls" in halves else []
    content = content if "content" in halves else None
    if calls:
        return _grade_steps(calls, content, answer)
    if not is_comparable(content):
        return Score(None, _NOTHING if messages else _ABSENT)
    return _grade_content(compare_content(content, answer))


def _read_expectation(messages: Sequence[Message]) -> _Expectation:
    said = [message for message in messages if message.role == "assistant"]
    contents = [message.content for message in said if message.content is not None]
    calls = [call for message in said for call in message.tool_calls]
    return _Expectation(read_calls(calls), contents[-1] if contents else None)


def _grade_content(comparison: ContentMatch) -> Score:
    return Score(float(comparison.equal), comparison.reason, dict(comparison.details))


def _grade_steps(calls: list[Call], content: JSON, answer: Answer) -> Score | Awaitable[Score]:
    """Every call is a step, and so is the content: the score is the share of steps that match."""
    made = read_calls(answer.tool_calls)
    if not takes_long(calls, made):
        return _score_steps(calls, made, content, answer, match_calls(calls, made))
    return _grade_aside(calls, made, content, answer)


async def _grade_aside(calls: list[Call], made: list[Call], content: JSON, answer: Answer) -> Score:
    from evalcase.system.aside import run_aside  # slow to import, and seldom needed

    def grade(is_given_up: Callable[[], bool]) -> Score:
        matches = match_calls(calls, made, is_given_up=is_given_up)
        return _score_steps(calls, made, content, answer, matches)

    return await run_aside(grade)


def _score_steps(
    calls: list[Call], made: list[Call], content: JSON, answer: Answer, matches: list[Match]
) -> Score:
    right, steps = sum(match.is_made for match in matches), len(calls)
    reason = "; ".join(describe_calls(calls, made, matches))
    details: dict[str, JSON] = {}
    if right < steps:
        details["calls"] = align_calls(calls, made, matches)
    if is_comparable(content):
        comparison = compare_content(content, answer)
        right, steps = right + comparison.equal, steps + 1
        reason = f"{reason}; {comparison.reason}"
        details |= comparison.details
        if right < steps:
            reason = f"{right} of {steps} steps right: {reason}"
    return Score(right / steps, reason, details)
