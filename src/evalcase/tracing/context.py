"""Which call a trace belongs to: the ids that a program is given, and the labels that spans carry.

A span names its case by `evalcase.case`, and where needed by `evalcase.suite`, `evalcase.repeat`
and `evalcase.turn`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from evalcase.tracing.otlp import BadTraceError, Piece, read_attributes, read_time
from evalcase.types.target import Question
from evalcase.types.value import JSON

HEADER = "traceparent"
VARIABLE = "TRACEPARENT"
CASE, SUITE = "evalcase.case", "evalcase.suite"
REPEAT, TURN = "evalcase.repeat", "evalcase.turn"
TARGET = "evalcase.target"
CONVERSATION = "gen_ai.conversation.id"
_READ = (CASE, SUITE, REPEAT, TURN, TARGET, CONVERSATION)
QUESTION_HASH = "evalcase.question_hash"
# What an exported run says of an answer that is not whole.
SCRUBBED, TRUNCATED, STEPS_CUT = "evalcase.scrubbed", "evalcase.truncated", "evalcase.steps_cut"


class TraceContext(NamedTuple):
    trace: str
    span: str

    @property
    def traceparent(self) -> str:
        """W3C Trace Context: version, trace, span, and the flag "recorded"."""
        return f"00-{self.trace}-{self.span}-01"


class PendingCalls:
    """What can be said of each call that has no answer yet, if it fails. The key is the identity of
    the question: a judge asks equal questions at the same time."""

    def __init__(self) -> None:
        # The question is stored, too, so that no other object gets its id.
        self._by_id: dict[int, tuple[Question, Callable[[], dict[str, JSON]]]] = {}

    @contextmanager
    def during(self, question: Question, describe: Callable[[], dict[str, JSON]]) -> Iterator[None]:
        """Note a call while it runs; if that fails, until somebody asks what was seen."""
        self._by_id[id(question)] = question, describe
        yield
        self._by_id.pop(id(question), None)

    @contextmanager
    def start(self, question: Question) -> Iterator[TraceContext]:
        """Begin a trace, and note its call."""
        trace = TraceContext(os.urandom(16).hex(), os.urandom(8).hex())
        with self.during(question, lambda: {"trace": trace.trace}):
            yield trace

    def seen_of(self, question: Question) -> dict[str, JSON]:
        found = self._by_id.pop(id(question), None)
        return {} if found is None else found[1]()

    def clear(self) -> None:
        self._by_id.clear()


class TraceLabel(NamedTuple):
    case: str
    suite: str | None = None
    repeat: int | None = None
    turn: int = 1


class LabelledTrace(NamedTuple):
    """A trace with its label, its start, and the conversation and target that it names."""

    label: TraceLabel
    start_ns: int
    id: str
    conversation: str | None = None
    target: str | None = None


class TraceLabels:
    """Collects the labels of traces while their pieces pass by."""

    def __init__(self) -> None:
        self._found: dict[str, LabelledTrace] = {}
        self._inner: dict[str, set[str]] = {}
        """Conversations that spans without a label name."""

    def note(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Pass pieces on. Raise BadTraceError if one trace names two cases."""
        for piece in pieces:
            yield piece
            if piece.kind == "span":
                self._add(piece)

    def _add(self, piece: Piece) -> None:
        trace, named = piece.trace, piece.raw.get("attributes")
        if isinstance(named, list):  # what is wrong with others is found where they are used
            named = [each for each in named if isinstance(each, dict) and each.get("key") in _READ]
        attributes = {**piece.resource, **read_attributes({"attributes": named or []})}
        label = _read_label(attributes)
        texts = (attributes.get(name) for name in (CONVERSATION, TARGET))
        conversation, target = [each if isinstance(each, str) and each else None for each in texts]
        if label is None:
            if conversation is not None:
                self._inner.setdefault(trace, set()).add(conversation)
            return
        start_ns, known = read_time(piece.raw, "startTimeUnixNano"), self._found.get(trace)
        if known is not None and known.label != label:
            both = f"`{known.label.case}` and of `{label.case}`"
            what = "the same case and repeat" if known.label.case == label.case else both
            raise BadTraceError(f": the trace {trace} says in two ways that it is of {what}")
        if known is None or start_ns < known.start_ns:
            self._found[trace] = LabelledTrace(
                label, start_ns, trace, conversation or (known and known.conversation),
                target or (known and known.target),
            )  # fmt: skip

    def __iter__(self) -> Iterator[LabelledTrace]:
        for each in self._found.values():
            inner = self._inner.get(each.id, ())
            is_known = each.conversation is not None or len(inner) != 1
            yield each if is_known else each._replace(conversation=next(iter(inner)))


def _read_label(attributes: Mapping[str, JSON]) -> TraceLabel | None:
    """The label of a span; None if it has none. Raise BadTraceError."""
    case, suite = attributes.get(CASE), attributes.get(SUITE)
    if case is None:
        return None
    if not isinstance(case, str) or not isinstance(suite, str | None):
        raise BadTraceError(f"`{CASE}` and `{SUITE}` are texts")
    numbers: list[int | None] = []
    for name in (REPEAT, TURN):
        value = attributes.get(name)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
            value = int(value)  # attributes of a resource are texts, from environment variables
        if value is not None and (type(value) is not int or value < 1):
            raise BadTraceError(f"`{name}` is a whole number from 1, not {value!r:.40}")
        numbers.append(value)
    return TraceLabel(case, suite, numbers[0], numbers[1] or 1)
