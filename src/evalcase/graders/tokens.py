"""The answer took few enough tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalcase.errors import GraderError
from evalcase.model.answer import Usage
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.option import option
from evalcase.model.shape import Number, OptionFault


@dataclass(frozen=True, slots=True)
class TokensGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "tokens", "Limits how many tokens are used: in total, for input or for output.", "value",
        example="- tokens: {output: 200}",
        only_reads=True, measures=True, light=True,
    )  # fmt: skip

    value: int | None = option(
        Number(0, whole=True), "The most tokens in total.", default=None, example=1000,
        elsewhere=("max", "total", "max_total"),
    )  # fmt: skip
    input: int | None = option(
        Number(0, whole=True), "The most input tokens.", default=None,
        elsewhere=("max_input", "prompt"),
    )  # fmt: skip
    output: int | None = option(
        Number(0, whole=True), "The most output tokens.", default=None,
        elsewhere=("max_output", "completion"),
    )  # fmt: skip

    @conflict
    def _needs_a_limit(self) -> Iterator[OptionFault]:
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
