"""How near the answer is to a text, by the characters that differ."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Annotated, ClassVar

from evalcase.graders.compare.excerpt import excerpt_text
from evalcase.graders.compare.reference import expected_text, nothing_to_compare
from evalcase.graders.compare.text_difference import first_difference
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import about
from evalcase.util.text import edit_distance, write_count, write_score
from evalcase.util.user_calls import run_aside

_QUICK = 4_000_000
"""How many pairs of characters take a few milliseconds; with more, the work is done in a thread."""


class SimilarityGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "similarity", "The answer is similar enough to a text, or to `expected_output`.", "value",
        needs=("threshold",), reads="text", half="content",
        example="- {type: similarity, value: The capital of Peru is Lima., threshold: 0.8}",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[
        str | None,
        about(
            "The text to compare with; by default, `expected_output`.",
            example="The capital of Peru is Lima.",
        ),
    ] = None

    def compares_expected(self) -> bool:
        return self.value is None

    def accepts_silence(self) -> bool:
        return self.value is not None and not self.value.strip()

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        wanted = expected_text(context.case) if self.value is None else self.value
        if wanted is None:
            return nothing_to_compare(context.case)
        left, right = self.trimmed(wanted), self.trimmed(context.text)
        if len(left) * len(right) <= _QUICK:
            return self._score(left, right, edit_distance(left, right), context.text)
        return self._grade_elsewhere(left, right)

    async def _grade_elsewhere(self, left: str, right: str) -> Score:
        distance = await run_aside(partial(edit_distance, left, right))
        return self._score(left, right, distance)

    def _score(self, wanted: str, got: str, distance: int, said: str = "") -> Score:
        longer = max(len(wanted), len(got))
        share = 1.0 if not longer else round(1 - distance / longer, 9)
        if not distance:
            return Score(1.0, f"the text is equal{self.forgiving()}")
        differ = f"{write_count(distance, 'character')} of {longer:,} differ"
        at = first_difference(wanted, got)
        details = {"expected": excerpt_text(wanted, at), "got": excerpt_text(got or said, at)}
        return Score(share, f"{differ}, similarity {write_score(share)}{self.forgiving()}", details)
