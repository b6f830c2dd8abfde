"""A conversation took few enough turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.bounds import find_crossed
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.option import option
from evalcase.model.shape import Number, OptionFault
from evalcase.text.counted import write_count


@dataclass(frozen=True, slots=True)
class TurnsGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "turns", "Limits how many turns the conversation takes.",
        example="- turns: {max: 6}",
        only_reads=True, measures=True, light=True,
    )  # fmt: skip

    min: int | None = option(Number(1, whole=True), "The fewest turns.", default=None)
    max: int | None = option(
        Number(1, whole=True), "The most turns.", default=None, example=6,
        elsewhere=("max_turns",),
    )  # fmt: skip

    @conflict
    def _needs_a_limit(self) -> Iterator[OptionFault]:
        if self.min is None and self.max is None:
            needs = "the grader `turns` needs `max` or `min`"
            yield OptionFault((), needs, code="missing-option")

    @conflict
    def _are_out_of_order(self) -> Iterator[OptionFault]:
        return find_crossed(self.min, self.max)

    def grade(self, context: Context) -> Score:
        number = context.turns
        told = write_count(number, "turn")
        if self.max is not None and number > self.max:
            return Score(0.0, f"{told}, but at most {self.max} are allowed")
        if self.min is not None and number < self.min:
            return Score(0.0, f"{told}, but at least {self.min} are needed")
        return Score(1.0, told)
