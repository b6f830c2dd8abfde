"""The built-in comparison of an answer with `expected_output`, by the shape of what is expected.

Text is compared as text, any other value as JSON, tool calls as calls. It is exact on purpose: a
grader that ignores differences says so in its options.
"""

from __future__ import annotations

from collections.abc import Awaitable

from evalcase.graders.base import BOTH, Context, Grader, Half
from evalcase.graders.calls import compare_calls, expected_calls, read_calls, takes_long
from evalcase.graders.differences import NOTHING, compare_content, expected_content
from evalcase.graders.text import Searcher, settle
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
            return compare_content(content, answer) if is_comparable(content) else NOTHING
        made = read_calls(seen_calls(answer))

        def judge(searcher: Searcher) -> Score:
            """Every call is a step, and so is the content: the score is the share that matches."""
            compared = compare_calls(expected, made, searcher.is_given_up)
            right, steps = compared.matched, len(expected)
            details: dict[str, JSON] = {} if right == steps else {"calls": compared.rows()}
            reason, is_unseen = "; ".join(compared.describe()), False
            if is_comparable(content):
                said = compare_content(content, answer)
                right, steps = right + (said.value == 1.0), steps + 1
                reason = f"{reason}; {said.reason}"
                details |= said.details
                # Where the calls are wrong already, no text could have made it right.
                is_unseen = said.stands and right == steps - 1
                if right < steps:
                    reason = f"{right} of {steps} steps right: {reason}"
            return Score(right / steps, reason, details, stands=is_unseen)

        return settle(judge, takes_long=takes_long(expected, made))
