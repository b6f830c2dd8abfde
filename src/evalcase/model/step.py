"""What an agent did on the way to its answer, as its spans tell: the steps, each at its depth."""

from __future__ import annotations

from typing import Any, Literal

from evalcase.model.name_pattern import fits_pattern
from evalcase.model.value import Value

StepKind = Literal["model", "tool", "agent", "other"]


class Step(Value, frozen=True):
    """One step; those that are part of it follow, one deeper."""

    name: str
    """Of its span."""
    kind: StepKind = "other"
    depth: int = 0
    start_s: float = 0.0
    """How long after the first step it began."""
    duration_s: float | None = None
    """None where nobody knows."""
    error: str | None = None
    """What went wrong, in words that may be empty; None where nothing did."""
    tool: str | None = None
    """The tool that was called."""
    input: Any = None
    """What the tool was given, as JSON; None where nobody says, or where it is large."""
    is_cut: bool = False
    """Whether it was given more than is kept."""
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    def fits(self, pattern: str) -> bool:
        """Whether its name is as a pattern says, in which `*` and `?` stand for anything."""
        return fits_pattern(self.name, pattern)
