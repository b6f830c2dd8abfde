"""The answer was cheap enough."""

from __future__ import annotations

from typing import Annotated, ClassVar

from evalcase.errors import GraderError
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import Amount, about

_UNKNOWN_COST = (
    "the target did not report a cost. What a model costs is known by `price = {input = …, output "
    "= …}` in its table of evalcase.toml, or by the extra `prices`; any other target says "
    "`cost_usd` beside its answer"
)


class CostGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "cost",
        "Limits what the answer costs, in USD.",
        "value",
        example="- cost: 0.01",
        only_reads=True,
        measures=True,
        light=True,
    )

    value: Annotated[
        Amount,
        about(
            "The most it may cost, in USD.",
            example=0.01,
            elsewhere=("max", "budget", "max_usd", "usd"),
        ),
    ]

    def grade(self, context: Context) -> Score:
        answer = context.answer
        # What an answer from a cache cost when it was given, and not the nothing of today.
        cost_usd = answer.cost_usd if answer.earlier is None else answer.earlier.cost_usd
        if cost_usd is None:
            raise GraderError("unreported", _UNKNOWN_COST)
        if cost_usd <= self.value:
            return Score(1.0, f"it cost ${cost_usd:.6g}")
        return Score(0.0, f"it cost ${cost_usd:.6g}, but at most ${self.value:g} is allowed")
