"""What the readers report: a fault of the text itself, with its span."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.model.problem import Span

MAX_DEPTH = 100
"""How deep values may be nested, in any format."""


class Fault(NamedTuple):
    code: str
    message: str
    span: Span
    hint: str | None = None


class FatalFaultError(Exception):
    """The text can't be read past this fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault
