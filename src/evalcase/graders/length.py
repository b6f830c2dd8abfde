"""The answer is as long as it should be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.bounds import find_crossed
from evalcase.graders.compare.text_options import TextGrader
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, GraderKind
from evalcase.model.option import option
from evalcase.model.shape import Choice, Number, OptionFault
from evalcase.text.counted import write_count


@dataclass(frozen=True, slots=True)
class LengthGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "length", "Limits the length of the answer, in characters, words or lines.", reads="text",
        example="- length: {max: 50, unit: words}",
        only_reads=True, light=True,
    )  # fmt: skip

    min: int | None = option(
        Number(0, whole=True), "The shortest length allowed.", default=None, example=1,
        elsewhere=("least", "min_length", "at_least"),
    )  # fmt: skip
    max: int | None = option(
        Number(0, whole=True), "The greatest length allowed.", default=None, example=100,
        elsewhere=("most", "max_length", "at_most"),
    )  # fmt: skip
    unit: str = option(
        Choice(("characters", "words", "lines")), "What to count.", default="characters"
    )

    @conflict
    def _needs_a_limit(self) -> Iterator[OptionFault]:
        if self.min is None and self.max is None:
            yield OptionFault((), "the grader `length` needs `min` or `max`", code="missing-option")

    @conflict
    def _limits_nothing(self) -> Iterator[OptionFault]:
        if self.min == 0 and self.max is None:
            yield OptionFault(("min",), "every answer has at least 0", "say at least 1, or a `max`")

    @conflict
    def _are_out_of_order(self) -> Iterator[OptionFault]:
        return find_crossed(self.min, self.max)

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
