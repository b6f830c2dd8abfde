"""What was said in a span, in whichever way its instrumentation writes it down."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.traces.dialects.conventions import OUTPUT, read_conventions
from evalcase.traces.dialects.events import read_events
from evalcase.traces.dialects.openinference import read_openinference
from evalcase.traces.dialects.openllmetry import read_openllmetry
from evalcase.traces.dialects.said import SaidMessage, SpanMessages, data_or_text, message_of
from evalcase.traces.span import TraceSpan
from evalcase.types.value import JSON

_DIALECTS: tuple[Callable[[TraceSpan], SpanMessages | None], ...] = (
    read_conventions, read_openinference, read_openllmetry, read_events,
)  # fmt: skip
_ARGUMENTS = (
    "gen_ai.tool.call.arguments", "tool_arguments", "input.value", "traceloop.entity.input",
)  # fmt: skip
_RESULT = ("gen_ai.tool.call.result", "tool_response", "output.value", "traceloop.entity.output")
_OUTCOME = ("final_result", "output.value", "traceloop.entity.output", "gen_ai.completion")
_ASKED = ("input.value", "traceloop.entity.input", "gen_ai.prompt")


def read_said(span: TraceSpan) -> SpanMessages:
    """The messages of a span; none where nobody wrote down what was said. Raise BadTraceError."""
    for read in _DIALECTS:
        said = read(span)
        if said is not None:
            return said
    return SpanMessages([], [])


def read_arguments(span: TraceSpan) -> JSON:
    """What a tool was given; None where nobody wrote it down."""
    return data_or_text(_find_first(span, _ARGUMENTS))


def read_result(span: TraceSpan) -> JSON:
    """What a tool gave back; None where nobody wrote it down."""
    return data_or_text(_find_first(span, _RESULT))


def read_outcome(span: TraceSpan) -> list[SaidMessage]:
    """What an agent, or whatever else a trace is of, says that it gave back in the end."""
    if OUTPUT in span.attributes:
        return read_said(span).output[-1:]
    value = _find_first(span, _OUTCOME)
    return [] if value is None else [message_of("assistant", value, [])]


def read_asked(span: TraceSpan) -> list[SaidMessage]:
    """What it says that it was asked."""
    said = read_said(span).input
    value = None if said else _find_first(span, _ASKED)
    return said if value is None else [message_of("user", value, [])]


def _find_first(span: TraceSpan, names: tuple[str, ...]) -> JSON:
    return next((span.attributes[name] for name in names if name in span.attributes), None)
