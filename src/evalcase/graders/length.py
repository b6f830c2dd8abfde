"""The answer is as long as it should be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from evalcase.graders.compare.bounds import find_crossed
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import OptionFault, Whole, about
from evalcase.util.text import write_count


class LengthGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "length", "Limits the length of the answer, in characters, words or lines.", reads="text",
        example="- length: {max: 50, unit: words}",
        only_reads=True, light=True,
    )  # fmt: skip

    min: Annotated[
        Whole | None,
        about(
            "The shortest length allowed.", example=1, elsewhere=("least", "min_length", "at_least")
        ),
    ] = None
    max: Annotated[
        Whole | None,
        about(
            "The greatest length allowed.", example=100, elsewhere=("most", "max_length", "at_most")
        ),
    ] = None
    unit: Annotated[Literal["characters", "words", "lines"], about("What to count.")] = "characters"

    def conflicts(self) -> Iterator[OptionFault]:
        if self.min is None and self.max is None:
            yield OptionFault((), "the grader `length` needs `min` or `max`", code="missing-option")
        if self.min == 0 and self.max is None:
            yield OptionFault(("min",), "every answer has at least 0", "say at least 1, or a `max`")
        yield from find_crossed(self.min, self.max)

    def accepts_silence(self) -> bool:
        return self.max == 0

    def grade(self, context: Context) -> Score:
        found = self._count(self.with_even_space(context.text))
        said = write_count(found, self.unit.removesuffix("s"))
        if self.min is not None and found < self.min:
            return Score(0.0, f"{said}, but at least {self.min:,} are needed")
        if self.max is not None and found > self.max:
            return Score(0.0, f"{said}, but at most {self.max:,} are allowed")
        return Score(1.0, said)

    def _count(self, text: str) -> int:
        if self.unit == "words":
            return len(text.split())
        return len(text.splitlines()) if self.unit == "lines" else len(text)
