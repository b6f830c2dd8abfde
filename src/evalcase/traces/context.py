"""A trace that is begun here and goes on elsewhere: its ids, and how a program is told of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar

from evalcase.types.question import Question
from evalcase.types.value import JSON

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


_Told = TypeVar("_Told")


class ByCall(Generic[_Told]):
    """What is known of calls that have no answer yet. Each is known by its question itself, and
    not by what is in that: a judge asks one thing several times at once."""

    def __init__(self) -> None:
        self._by_id: dict[int, tuple[Question, _Told]] = {}
        """With the questions: as long as one is here, no other has its id."""

    def put(self, question: Question, told: _Told) -> None:
        self._by_id[id(question)] = question, told

    def take(self, question: Question) -> _Told | None:
        """It is told once."""
        _, told = self._by_id.pop(id(question), (None, None))
        return told

    def clear(self) -> None:
        self._by_id.clear()


class BegunTraces:
    """Traces that were begun here, of calls that have no answer yet."""

    def __init__(self) -> None:
        self._under_way: ByCall[TraceContext] = ByCall()

    @contextmanager
    def begin(self, question: Question) -> Iterator[TraceContext]:
        """A trace of its own for a call: no other has these ids."""
        begun = TraceContext(os.urandom(16).hex(), os.urandom(8).hex())
        self._under_way.put(question, begun)
        yield begun
        self._under_way.take(question)

    def seen_of(self, question: Question) -> dict[str, JSON]:
        """The trace of a call that came to nothing; it is told once."""
        begun = self._under_way.take(question)
        return {} if begun is None else {"trace": begun.trace}
