"""The answer ends with a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.text_difference import trim_text
from evalcase.graders.compare.text_options import TextGrader
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, GraderKind
from evalcase.model.option import option
from evalcase.model.shape import OptionFault, Text


@dataclass(frozen=True, slots=True)
class EndsWithGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "ends_with", "The answer ends with a text, ignoring outer white space.", "value",
        reads="text", example='- ends_with: "."',
        only_reads=True, light=True,
    )  # fmt: skip

    value: str = option(Text(), "The text it must end with.", example=".")

    @conflict
    def _is_blank(self) -> Iterator[OptionFault]:
        yield from self.object_to_blank((("value",), self.value.rstrip()))

    def grade(self, context: Context) -> Score:
        text = trim_text(context.text)
        does = self.even(text).endswith(self.even(self.value.rstrip()))
        return Score(float(does), self._reason(does, text) + self.forgiving())

    def _reason(self, does: bool, text: str) -> str:
        if does:
            return f"it ends with {quote_value(self.value)}"
        shown = quote_value(text[-max(40, len(self.value)) :])
        return f"it ends with {shown}, not with {quote_value(self.value)}"
