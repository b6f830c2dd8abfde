"""The answer starts with a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.text_difference import trim_text
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import OptionFault, Text, about


class StartsWithGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "starts_with", "The answer starts with a text, ignoring outer white space.", "value",
        reads="text", example="- starts_with: Dear",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[Text, about("The text it must start with.", example="Dear")]

    def conflicts(self) -> Iterator[OptionFault]:
        yield from self.object_to_blank((("value",), self.value.lstrip()))

    def grade(self, context: Context) -> Score:
        text = trim_text(context.text)
        does = self.even(text).startswith(self.even(self.value.lstrip()))
        return Score(float(does), self._reason(does, text) + self.forgiving())

    def _reason(self, does: bool, text: str) -> str:
        if does:
            return f"it starts with {quote_value(self.value)}"
        shown = quote_value(text[: max(40, len(self.value))])
        return f"it starts with {shown}, not with {quote_value(self.value)}"
