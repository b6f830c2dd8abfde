"""The answer is a text, or a JSON value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.content import ContentMatch, compare_texts, compare_values
from evalcase.graders.compare.subject import graded_value, without_text
from evalcase.graders.compare.text_options import TextGrader
from evalcase.model.grade import Score
from evalcase.model.grader import Context, GraderKind
from evalcase.model.json_value import JSON
from evalcase.model.option import option
from evalcase.model.shape import Anything
from evalcase.text.answer_value import has_text


@dataclass(frozen=True, slots=True)
class EqualsGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "equals", "The answer equals a text or a JSON value.", "value",
        takes_mapping=True, reads="either", example="- equals: Paris",
        only_reads=True, light=True,
    )  # fmt: skip

    value: JSON = option(
        Anything("a text or a value"),
        "The expected value: a text, ignoring outer white space, or any other value, as JSON.",
        example="Paris",
    )

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
