"""A conversation took few enough turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from evalcase.graders.compare.bounds import find_crossed
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import Count, OptionFault, about
from evalcase.util.text import write_count


class TurnsGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "turns", "Limits how many turns the conversation takes.",
        example="- turns: {max: 6}",
        only_reads=True, measures=True, light=True,
    )  # fmt: skip

    min: Annotated[Count | None, about("The fewest turns.")] = None
    max: Annotated[Count | None, about("The most turns.", example=6, elsewhere=("max_turns",))] = (
        None
    )

    def conflicts(self) -> Iterator[OptionFault]:
        if self.min is None and self.max is None:
            needs = "the grader `turns` needs `max` or `min`"
            yield OptionFault((), needs, code="missing-option")
        yield from find_crossed(self.min, self.max)

    def grade(self, context: Context) -> Score:
        number = context.turns
        told = write_count(number, "turn")
        if self.max is not None and number > self.max:
            return Score(0.0, f"{told}, but at most {self.max} are allowed")
        if self.min is not None and number < self.min:
            return Score(0.0, f"{told}, but at least {self.min} are needed")
        return Score(1.0, told)
