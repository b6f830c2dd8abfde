"""The answer is one of some texts."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.text_difference import trim_text
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import about
from evalcase.util.text import list_some

_LISTED = 10


class OneOfGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "one_of", "The answer is one of several texts, ignoring outer white space.", "value",
        reads="text", example="- {type: one_of, value: [yes, no, maybe], ignore_case: true}",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[
        Annotated[tuple[str, ...], Meta(min_length=1)],
        about("The accepted texts.", example=["yes", "no"], words="a list of texts"),
    ]

    def accepts_silence(self) -> bool:
        return any(not each.strip() for each in self.value)

    def grade(self, context: Context) -> Score:
        text = trim_text(context.text)
        if self.even(text) in [self.trimmed(each) for each in self.value]:
            return Score(1.0, f"it is {quote_value(text)}{self.forgiving()}")
        choices = list_some(map(quote_value, self.value[:_LISTED]), len(self.value))
        return Score(0.0, f"expected one of {choices}; got {quote_value(text)}{self.forgiving()}")
