"""The answer came soon enough."""

from __future__ import annotations

from typing import Annotated, ClassVar

from evalcase.errors import GraderError
from evalcase.graders.compare.traced import about_steps, steps_like
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.message import Step
from evalcase.types.options import Seconds, Text, about

UNKNOWN_TIME = "how long the answer took is not known: nobody has recorded it"
_SHORT_S = 0.001
"""What takes less is not worth its digits, unless so little is asked for."""
_LONG_S = 1000


class LatencyGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "latency", "Limits how many seconds the target takes to answer.", "value",
        example="- latency: 2.5",
        only_reads=True, measures=True, light=True,
    )  # fmt: skip

    value: Annotated[
        Seconds,
        about(
            "The most seconds it may take.",
            example=2.5,
            elsewhere=("max", "max_s", "seconds", "max_seconds"),
        ),
    ]

    steps: Annotated[Text | None, about_steps("Each of")] = None

    def grade(self, context: Context) -> Score:
        if self.steps is not None:
            return self._grade_steps(steps_like(context.answer, self.steps), self.steps)
        took_s = _read_seconds(context)
        if took_s <= self.value:
            return Score(1.0, f"it took {self._say(took_s)}")
        return Score(0.0, f"it took {self._say(took_s)}{self._tell_limit()}")

    def _grade_steps(self, steps: list[Step], name: str) -> Score:
        if not steps:
            return Score(0.0, f"no step is called {name!r}", passed=False, stands=True)
        for step in steps:
            if step.duration_s is None:
                raise GraderError(
                    "unreported", f"how long the step `{step.name}` took is not known"
                )
        slowest = max(steps, key=lambda step: step.duration_s or 0)
        took_s = slowest.duration_s or 0
        told = f"`{slowest.name}` took {self._say(took_s)}"
        if len(steps) > 1:
            told += f", the longest of {len(steps)} steps"
        if took_s <= self.value:
            return Score(1.0, told)
        return Score(0.0, f"{told}{self._tell_limit()}")

    def _tell_limit(self) -> str:
        return f", but at most {_write_plainly(f'{self.value:g}')} s is allowed"

    def _say(self, seconds: float) -> str:
        """As many digits as somebody reads who has such a limit."""
        if seconds < _SHORT_S <= self.value:
            return f"under {_SHORT_S:g} s"
        return f"{seconds:.0f} s" if seconds >= _LONG_S else f"{_write_plainly(f'{seconds:.4g}')} s"


def _write_plainly(number: str) -> str:
    """A number without an exponent."""
    if "e" not in number:
        return number
    from decimal import Decimal

    return f"{Decimal(number):f}"


def _read_seconds(context: Context) -> float:
    """As the engine measured it; for an answer that was given before, as that was recorded."""
    earlier = context.answer.earlier
    took_s = context.duration_s if earlier is None else earlier.duration_s
    if took_s is None:
        raise GraderError("unreported", UNKNOWN_TIME)
    return took_s
