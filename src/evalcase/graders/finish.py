"""How the answer ended: by itself, at a limit, with a call, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalcase.errors import GraderError
from evalcase.graders.compare.excerpt import quote_value
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.option import option
from evalcase.model.shape import Choice, ListOf, OptionFault, Text
from evalcase.model.shape_one_of import OneOf
from evalcase.text.ending import read_ending


@dataclass(frozen=True, slots=True)
class FinishGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "finish", "The target reports an accepted finish reason.", "value",
        example="- finish: [stop, end_turn]",
        only_reads=True, light=True, grades_blocked=True,
    )  # fmt: skip

    value: str | tuple[str, ...] | None = option(
        OneOf((Text(), ListOf(Text(), "a list of texts"))),
        "The accepted finish reason, or several, such as `stop`, `length` or `end_turn`.",
        default=None, example="stop", elsewhere=("reason", "finish_reason", "stop_reason"),
    )  # fmt: skip
    refusal: str = option(
        Choice(("allow", "forbid")), "Whether the model may refuse.", default="allow"
    )

    @conflict
    def _needs_a_reason(self) -> Iterator[OptionFault]:
        if self.value is None and self.refusal == "allow":
            needs = "the grader `finish` needs a reason, or `refusal: forbid`"
            yield OptionFault((), needs, code="missing-option")

    def grade(self, context: Context) -> Score:
        end = read_ending(context.answer)
        if end.reason is None and end.refusal is None:
            raise GraderError("unreported", "the target did not report how the answer ended")
        if self.refusal == "forbid" and end.refusal is not None:
            who = "the provider blocked it" if end.kind == "blocked" else "the model refused"
            return Score(0.0, f"{who}: {quote_value(end.refusal)}")
        wanted = (self.value,) if isinstance(self.value, str) else self.value
        ended = "it was refused" if end.reason is None else f"it ended by {quote_value(end.reason)}"
        if wanted is None or end.reason in wanted:
            return Score(1.0, ended)
        return Score(0.0, f"{ended}, and not by {' or '.join(map(quote_value, wanted))}")
