"""A pattern is found in the answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import Annotated, ClassVar

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.patterns import LIMIT_S, Searcher, settle
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import Pattern, Seconds, about


class RegexGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "regex", "The answer contains a match for a Python regular expression.", "value",
        reads="text", example=r"- regex: '\d{4}-\d{2}-\d{2}'",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[Pattern, about("The pattern to search for.", example="\\d+ items?")]
    full: Annotated[
        bool, about("Whether the whole answer must match.", elsewhere=("fullmatch", "full_match"))
    ] = False
    timeout_s: Annotated[
        Seconds,
        about(
            "Time limit of the search, in seconds.", example=5, elsewhere=("timeout", "time_limit")
        ),
    ] = LIMIT_S

    def accepts_silence(self) -> bool:
        """Whether the pattern is of an empty text, as `^$` is, and not of any."""
        return re.search(self.value, "") is not None and re.search(self.value, "x") is None

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        text = self.with_even_space(context.text)

        def judge(searcher: Searcher) -> Score:
            found = searcher.find(self.value, text, full=self.full, ignore_case=self.ignore_case)
            what = "matched" if self.full else "found"
            if found is None:
                where = f" in {quote_value(text)}{self.forgiving()}"
                return Score(0.0, f"`{self.value}` not {what}{where}")
            where = "" if self.full else f" at character {found.start + 1:,}"
            matched = quote_value(text[found.start : found.end])
            return Score(1.0, f"{what} {matched}{where}{self.forgiving()}")

        return settle(judge, self.timeout_s)
