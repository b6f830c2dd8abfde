"""A comparison with all that was asked of it: what each way to show it is given."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.report.compare.comparison import Comparison
from evalcase.report.compare.gated import Gated
from evalcase.report.compare.gates import GateFinding
from evalcase.report.compare.track import ChangeKind
from evalcase.types.value import Value

EFFECT = 0.05


class Compared(Value, frozen=True):
    comparison: Comparison
    gated: Sequence[Gated]
    judged: Sequence[GateFinding]
    effect: float = EFFECT
    """The change that matters."""
    shown: tuple[ChangeKind, ...] = ("broken",)
    """The kinds of cases whose answers are shown side by side."""
    limit: int = 5
    """How many of each."""
