"""The answer took few enough tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from evalcase.errors import GraderError
from evalcase.types.answer import Usage
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import OptionFault, Whole, about


class TokensGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "tokens", "Limits how many tokens are used: in total, for input or for output.", "value",
        example="- tokens: {output: 200}",
        only_reads=True, measures=True, light=True,
    )  # fmt: skip

    value: Annotated[
        Whole | None,
        about("The most tokens in total.", example=1000, elsewhere=("max", "total", "max_total")),
    ] = None
    input: Annotated[
        Whole | None, about("The most input tokens.", elsewhere=("max_input", "prompt"))
    ] = None
    output: Annotated[
        Whole | None, about("The most output tokens.", elsewhere=("max_output", "completion"))
    ] = None

    def conflicts(self) -> Iterator[OptionFault]:
        if self.value is None and self.input is None and self.output is None:
            needs = "the grader `tokens` needs a number, `input` or `output`"
            yield OptionFault((), needs, code="missing-option")

    def grade(self, context: Context) -> Score:
        usage = context.answer.usage or Usage()
        faults: list[str] = []
        told: list[str] = []
        for what, most, number in (
            ("in all", self.value, _add_tokens(usage)),
            ("in", self.input, usage.input_tokens),
            ("out", self.output, usage.output_tokens),
        ):
            if most is None:
                continue
            if number is None:
                unknown = f"the target did not report how many tokens there were {what}"
                raise GraderError(
                    "unreported", f"{unknown}; a target says `usage` beside its answer"
                )
            told.append(f"{number:,} tokens {what}")
            if number > most:
                faults.append(f"{told[-1]}, but at most {most:,} are allowed")
        return Score(float(not faults), "; ".join(faults or told))


def _add_tokens(usage: Usage) -> int | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens
