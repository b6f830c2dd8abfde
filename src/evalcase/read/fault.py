"""What the readers report: a fault of the text itself, with its span."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.model.problem import Span

MIND_DEPTH = 94
"""From here on the canonical form may be deeper than that: it spells out what was left away."""


class Fault(NamedTuple):
    code: str
    message: str
    span: Span
    hint: str | None = None
    fix: str | None = None
    """What would stand in its place if the hint were followed, where that is one exact edit."""


class FatalFaultError(Exception):
    """The text can't be read past this fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault
