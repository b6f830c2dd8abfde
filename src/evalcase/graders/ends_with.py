"""The answer ends with a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.text_difference import trim_text
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import OptionFault, Text, about


class EndsWithGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "ends_with", "The answer ends with a text, ignoring outer white space.", "value",
        reads="text", example='- ends_with: "."',
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[Text, about("The text it must end with.", example=".")]

    def conflicts(self) -> Iterator[OptionFault]:
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
