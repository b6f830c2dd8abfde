"""The built-in comparison of an answer with `expected_output`, by the shape of what is expected.

Text is compared as text, any other value as JSON, tool calls as calls. It is exact on purpose: a
grader that ignores differences says so in its options.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial

from evalcase.graders.base import BOTH, Context, Grader, Half
from evalcase.graders.calls import (
    Call,
    align_calls,
    describe_calls,
    expected_calls,
    match_calls,
    read_calls,
    takes_long,
)
from evalcase.graders.differences import NOTHING, compare_content, expected_content
from evalcase.graders.text import Searcher, settle
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.value import JSON
from evalcase.util.answers import is_comparable
from evalcase.util.calls import seen_calls


class ExpectedGrader(Grader):
    name = "expected"
    description = (
        "The answer matches `expected_output`: equal text, equal JSON, or the same tool calls."
    )

    halves: frozenset[Half] = BOTH
    """What is compared. Other graders compare the rest."""

    def compares(self) -> frozenset[Half]:
        return BOTH

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        case, answer = context.case, context.answer
        content = expected_content(case) if "content" in self.halves else None
        expected = expected_calls(case) if "calls" in self.halves else []
        if not expected:
            if not is_comparable(content):
                return NOTHING
            return compare_content(content, answer)
        made = read_calls(seen_calls(answer))
        judge = partial(_grade_steps, expected, made, content, answer)
        return settle(judge, takes_long=takes_long(expected, made))


def _grade_steps(
    expected: Sequence[Call],
    made: Sequence[Call],
    content: JSON,
    answer: Answer,
    searcher: Searcher,
) -> Score:
    """Every call is a step, and so is the content: the score is the share of steps that match."""
    matches = match_calls(expected, made, is_given_up=searcher.is_given_up)
    right, steps = sum(match.is_made for match in matches), len(expected)
    reason = "; ".join(describe_calls(expected, made, matches))
    details: dict[str, JSON] = {}
    is_unseen = False
    if right < steps:
        details["calls"] = align_calls(expected, made, matches)
    if is_comparable(content):
        comparison = compare_content(content, answer)
        right, steps = right + (comparison.value == 1.0), steps + 1
        reason = f"{reason}; {comparison.reason}"
        details |= comparison.details
        # Where the calls are wrong already, no text could have made it right.
        is_unseen = comparison.stands and right == steps - 1
        if right < steps:
            reason = f"{right} of {steps} steps right: {reason}"
    return Score(right / steps, reason, details, stands=is_unseen)
