"""A pattern is found in the answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.text_options import TextGrader
from evalcase.model.grade import Score
from evalcase.model.grader import Context, GraderKind
from evalcase.model.option import option
from evalcase.model.shape import Flag
from evalcase.model.shape_pattern import Pattern
from evalcase.model.shape_seconds import Seconds
from evalcase.system.patterns.search import Search
from evalcase.system.patterns.searches import LIMIT_S, Searches, end_searches, settle_searches


@dataclass(frozen=True, slots=True)
class RegexGrader(TextGrader):
    """Searches in this process where that is quick for sure, else in one that can be ended."""

    kind: ClassVar[GraderKind] = GraderKind(
        "regex", "The answer contains a match for a Python regular expression.", "value",
        reads="text", example=r"- regex: '\d{4}-\d{2}-\d{2}'",
        only_reads=True, light=True,
    )  # fmt: skip

    value: str = option(Pattern(), "The pattern to search for.", example=r"\d+ items?")
    full: bool = option(
        Flag(), "Whether the whole answer must match.", default=False,
        elsewhere=("fullmatch", "full_match"),
    )  # fmt: skip
    timeout_s: float = option(
        Seconds(), "Time limit of the search, in seconds.", default=LIMIT_S, example=5,
        elsewhere=("timeout", "time_limit"),
    )  # fmt: skip

    def accepts_silence(self) -> bool:
        """Whether the pattern is of an empty text, as `^$` is, and not of any."""
        return re.search(self.value, "") is not None and re.search(self.value, "x") is None

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        flags = int(re.IGNORECASE) if self.ignore_case else 0
        text = self.with_even_space(context.text)
        search = Search(self.value, text, self.full, flags)

        def judge(searches: Searches) -> Score:
            found = searches.find(search)
            what = "matched" if self.full else "found"
            if found is None:
                where = f" in {quote_value(text)}{self.forgiving()}"
                return Score(0.0, f"`{self.value}` not {what}{where}")
            where = "" if self.full else f" at character {found.start + 1:,}"
            matched = quote_value(text[found.start : found.end])
            return Score(1.0, f"{what} {matched}{where}{self.forgiving()}")

        return settle_searches(judge, self.timeout_s)

    async def close(self) -> None:
        end_searches()
