"""The built-in comparison of an answer with `expected_output`, by the shape of what is expected.

Text is compared as text, any other value as JSON, tool calls as calls. It is exact on purpose: a
grader that forgives says in its name what it forgives.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import ClassVar

from evalcase.graders.compare.expectation import compare_expected
from evalcase.types.grade import Score
from evalcase.types.grader import BOTH, Context, Grader, GraderKind, Half


class ExpectedGrader(Grader):
    """Whether the answer is what `expected_output` says."""

    kind: ClassVar[GraderKind] = GraderKind(
        "expected",
        "The answer matches `expected_output`: equal text, equal JSON, or the same tool calls.",
        compares_expected=True,
        only_reads=True,
        light=True,
    )

    halves: frozenset[Half] = BOTH
    """What is compared; the rest is left to another grader, which compares it otherwise."""

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        return compare_expected(context.case.expected_output, context.answer, self.halves)
