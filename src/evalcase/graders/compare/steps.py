"""Calls that are expected, and the content after them, as steps that are made or not. Most cases
expect no calls, and a run without any doesn't import this."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from evalcase.graders.compare.call_match import (
    Call,
    Match,
    describe_calls,
    match_calls,
    read_calls,
    takes_long,
)
from evalcase.graders.compare.call_rows import align_calls
from evalcase.graders.compare.content import compare_content
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.message import ToolCall
from evalcase.types.value import JSON
from evalcase.util.answers import is_comparable
from evalcase.util.calls import seen_calls
from evalcase.util.user_calls import run_aside


def grade_steps(
    expected: Sequence[ToolCall], content: JSON, answer: Answer
) -> Score | Awaitable[Score]:
    """Every call is a step, and so is the content: the score is the share of steps that match."""
    calls, made = read_calls(expected), read_calls(seen_calls(answer))
    if not takes_long(calls, made):
        return _score_steps(calls, made, content, answer, match_calls(calls, made))
    return _grade_aside(calls, made, content, answer)


async def _grade_aside(calls: list[Call], made: list[Call], content: JSON, answer: Answer) -> Score:
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
    is_unseen = False
    if right < steps:
        details["calls"] = align_calls(calls, made, matches)
    if is_comparable(content):
        comparison = compare_content(content, answer)
        right, steps = right + comparison.equal, steps + 1
        reason = f"{reason}; {comparison.reason}"
        details |= comparison.details
        # Where the calls are wrong already, no text could have made it right.
        is_unseen = comparison.is_unseen and right == steps - 1
        if right < steps:
            reason = f"{right} of {steps} steps right: {reason}"
    return Score(right / steps, reason, details, stands=is_unseen)
