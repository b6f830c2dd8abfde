"""A trace that is begun here and goes on elsewhere: its ids, and how a program is told of them."""

from __future__ import annotations

import os

from evalcase.model.quick_tuple import NamedTuple

HEADER = "traceparent"
VARIABLE = "TRACEPARENT"


class TraceContext(NamedTuple):
    """The ids of a trace, and of the span that the next one is part of."""

    trace: str
    span: str

    @property
    def traceparent(self) -> str:
        """As W3C's Trace Context writes it: version, trace, span, and that it is recorded."""
        return f"00-{self.trace}-{self.span}-01"


def begin_trace() -> TraceContext:
    """A trace of its own: no other has these ids."""
    return TraceContext(os.urandom(16).hex(), os.urandom(8).hex())
