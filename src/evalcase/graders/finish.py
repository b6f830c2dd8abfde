"""How the answer ended: by itself, at a limit, with a call, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from evalcase.errors import GraderError
from evalcase.graders.compare.excerpt import quote_value
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import OptionFault, Text, Texts, about
from evalcase.util.answers import read_ending


class FinishGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "finish", "The target reports an accepted finish reason.", "value",
        example="- finish: [stop, end_turn]",
        only_reads=True, light=True, grades_blocked=True,
    )  # fmt: skip

    value: Annotated[
        Text | Texts | None,
        about(
            "The accepted finish reason, or several, such as `stop`, `length` or `end_turn`.",
            example="stop",
            elsewhere=("reason", "finish_reason", "stop_reason"),
        ),
    ] = None
    refusal: Annotated[Literal["allow", "forbid"], about("Whether the model may refuse.")] = "allow"

    def conflicts(self) -> Iterator[OptionFault]:
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
