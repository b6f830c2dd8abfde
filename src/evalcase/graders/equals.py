"""The answer is a text, or a JSON value."""

from __future__ import annotations

from typing import Annotated, ClassVar

from evalcase.graders.compare.content import ContentMatch, compare_texts, compare_values
from evalcase.graders.compare.subject import graded_value, without_text
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import about
from evalcase.types.value import JSON
from evalcase.util.answers import has_text


class EqualsGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "equals", "The answer equals a text or a JSON value.", "value",
        takes_mapping=True, reads="either", example="- equals: Paris",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[
        JSON,
        about(
            "The expected value: a text, ignoring outer white space, or any other value, as JSON.",
            example="Paris",
            words="a text or a value",
        ),
    ]

    def grade(self, context: Context) -> Score:
        compared = self._compare(context)
        reason = compared.reason + (self.forgiving() if isinstance(self.value, str) else "")
        unseen = compared.is_unseen
        passed = False if unseen else None
        return Score(float(compared.equal), reason, dict(compared.details), passed, stands=unseen)

    def _compare(self, context: Context) -> ContentMatch:
        if isinstance(self.value, str):
            if context.part is not None and not isinstance(context.part.value, str):
                return compare_values(self.value, context.part.value)
            expected, got = self.trimmed(self.value), self.trimmed(context.text)
            written = self.value, context.text
            silence = "" if got else without_text(context)
            compared = compare_texts(expected, got, written=written, silence=silence)
            is_seen = has_text(context.answer) if context.part is None else bool(got)
            return compared._replace(is_unseen=not is_seen and not compared.equal)
        return compare_values(self.value, graded_value(context))
