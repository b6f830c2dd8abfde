"""A trace that is begun here and goes on elsewhere: its ids, and how a program is told of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from evalcase.model.json_value import JSON
from evalcase.model.question import Question
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


CallKey = tuple[str, int, int]
"""The session, the turn and the attempt of a question: no two calls have the same."""


def call_key(question: Question) -> CallKey:
    return question.session, question.turn, question.attempt


class BegunTraces:
    """Traces that were begun here, of calls that have no answer yet."""

    def __init__(self) -> None:
        self._by_call: dict[CallKey, TraceContext] = {}

    @contextmanager
    def begin(self, question: Question) -> Iterator[TraceContext]:
        """A trace of its own for a call: no other has these ids."""
        begun = TraceContext(os.urandom(16).hex(), os.urandom(8).hex())
        self._by_call[call_key(question)] = begun
        yield begun
        self._by_call.pop(call_key(question), None)

    def seen_of(self, question: Question) -> dict[str, JSON]:
        """The trace of a call that came to nothing; it is told once."""
        begun = self._by_call.pop(call_key(question), None)
        return {} if begun is None else {"trace": begun.trace}
