"""Which trace is of which case: its spans say so by `evalcase.case`, and where needed by
`evalcase.suite`, `evalcase.repeat` and `evalcase.turn`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evalcase.traces.export import Piece
from evalcase.traces.span import BadTraceError, unwrap_value
from evalcase.types.value import JSON

CASE, SUITE = "evalcase.case", "evalcase.suite"
REPEAT, TURN = "evalcase.repeat", "evalcase.turn"
TARGET = "evalcase.target"
CONVERSATION = "gen_ai.conversation.id"
QUESTION_HASH = "evalcase.question_hash"
SCRUBBED, TRUNCATED = "evalcase.scrubbed", "evalcase.truncated"
STEPS_CUT = "evalcase.steps_cut"
"""What an exported run says of an answer: what it was given to, and what is missing of it."""


class TraceLabel(NamedTuple):
    """What a trace says that it is of."""

    case: str
    suite: str | None = None
    repeat: int | None = None
    turn: int = 1


class LabelledTrace(NamedTuple):
    """A trace, what it is of, and when it began; and the conversation and target that it names."""

    label: TraceLabel
    start_ns: int
    id: str
    conversation: str | None = None
    target: str | None = None


class TraceLabels:
    """Takes down the labels of traces while their pieces go by."""

    def __init__(self) -> None:
        self._found: dict[str, LabelledTrace] = {}
        self._inner: dict[str, str | None] = {}
        """Conversations by the spans without a label; None where they name several."""

    def note(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The same pieces. Raise BadTraceError where one trace is said to be of two cases."""
        for piece in pieces:
            if piece.kind == "span":
                self._note(piece)
            yield piece

    def _note(self, piece: Piece) -> None:
        label, named = (
            read_label(piece.raw.get("attributes"), piece.more),
            _read_named(piece, CONVERSATION),
        )
        if label is None:
            if named is not None and self._inner.setdefault(piece.trace, named) != named:
                self._inner[piece.trace] = None
            return
        known, start_ns = self._found.get(piece.trace), _read_start(piece)
        if known is not None and known.label != label:
            both = f"`{known.label.case}` and of `{label.case}`"
            what = "the same case and repeat" if known.label.case == label.case else both
            raise BadTraceError(f": the trace {piece.trace} says in two ways that it is of {what}")
        if known is None or start_ns < known.start_ns:
            named = named or (known and known.conversation)
            by = _read_named(piece, TARGET) or (known and known.target)
            self._found[piece.trace] = LabelledTrace(label, start_ns, piece.trace, named, by)

    def __iter__(self) -> Iterator[LabelledTrace]:
        for each in self._found.values():
            inner = self._inner.get(each.id) if each.conversation is None else None
            yield each if inner is None else each._replace(conversation=inner)


def read_label(attributes: JSON, more: dict[str, JSON]) -> TraceLabel | None:
    """What a span says that its trace is of; None where it says nothing. Raise BadTraceError."""
    said = dict(more)
    for each in attributes if isinstance(attributes, list) else ():
        if isinstance(each, dict) and each.get("key") in (CASE, SUITE, REPEAT, TURN):
            said[str(each["key"])] = unwrap_value(each.get("value"))
    case, suite = said.get(CASE), said.get(SUITE)
    if case is None:
        return None
    if not isinstance(case, str) or not isinstance(suite, str | None):
        raise BadTraceError(f"`{CASE}` and `{SUITE}` are texts")
    turn = _read_count(said, TURN)
    return TraceLabel(case, suite, _read_count(said, REPEAT), 1 if turn is None else turn)


def _read_count(said: dict[str, JSON], name: str) -> int | None:
    value = said.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)  # attributes of a resource are texts, as the environment gives them
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise BadTraceError(f"`{name}` is a whole number from 1, not {value!r:.40}")
    return value


def _read_start(piece: Piece) -> int:
    value = piece.raw.get("startTimeUnixNano", 0)
    text = str(value) if isinstance(value, int | str) else ""
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _read_named(piece: Piece, name: str) -> str | None:
    """The text that a span has for an attribute. Whatever else stands there says nothing."""
    attributes = piece.raw.get("attributes")
    for each in attributes if isinstance(attributes, list) else ():
        if isinstance(each, dict) and each.get("key") == name:
            value = each.get("value")
            text = value.get("stringValue") if isinstance(value, dict) else None
            return text if isinstance(text, str) and text else None
    return None
