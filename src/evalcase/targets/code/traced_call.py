"""One call that is traced: what is kept of its spans, and what becomes of that once it is over."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from evalcase.tracing.dialects import usage_of
from evalcase.tracing.otlp import MAX_SPANS, BadTraceError, SpanEvent, TraceSpan, find_reason
from evalcase.tracing.trace import SpanNode, arrange_spans, find_models, read_steps
from evalcase.types.answer import Answer, sum_usage
from evalcase.types.value import JSON, replace
from evalcase.util.calls import list_steps

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

_LONGEST_TEXT = 20_000
_MOST_ITEMS = 1_000
"""What is kept of an attribute, so that many spans take little room."""


class TracedCall:
    """What was seen of one call: the id of its trace, and the spans that ended within it."""

    def __init__(self) -> None:
        self.trace = ""
        self.own = 0
        """The id of our span around the call, which is no step of whoever is called."""
        self._spans: list[TraceSpan] = []
        self._lost = 0

    def add(self, span: ReadableSpan) -> None:
        if len(self._spans) < MAX_SPANS:
            self._spans.append(_digest_span(span))
        else:
            self._lost += 1

    def with_steps(self, answer: Answer) -> Answer:
        """The answer with the steps that led to it; and with tokens, where it says none itself."""
        nodes = self._arranged()
        kept = read_steps(nodes)
        usage, cut = answer.usage, kept.cut + self._lost
        if usage is None and not self._lost:
            usage = sum_usage([usage_of(span) for span in find_models(nodes)])
        return replace(
            answer, steps=kept.steps, steps_cut=cut, trace=self.trace or None, usage=usage
        )

    def seen(self) -> dict[str, JSON]:
        """The steps that there were, and the trace, for whoever looks for the cause of an error."""
        kept = read_steps(self._arranged())
        return {"steps": [*list_steps(kept.steps, kept.cut + self._lost)], "trace": self.trace}

    def _arranged(self) -> list[SpanNode]:
        spans = list(self._spans)  # a thread that was left may still add to them
        try:
            return arrange_spans(spans)
        except BadTraceError:  # ids are the user's to make, too
            self._lost += len(spans)
            return []


def _digest_span(span: ReadableSpan) -> TraceSpan:
    """What is needed of a span. The rest of it, whole conversations, is let go at once."""
    from opentelemetry.trace import StatusCode

    assert span.context is not None
    attributes = _read_attributes(span.attributes)
    error = None
    if span.status.status_code is StatusCode.ERROR:
        events = [SpanEvent(each.name, _read_attributes(each.attributes)) for each in span.events]
        error = find_reason(span.status.description or "", events, attributes)
    return TraceSpan(
        f"{span.context.span_id:016x}",
        "" if span.parent is None else f"{span.parent.span_id:016x}",
        span.name[:_LONGEST_TEXT], span.start_time or 0, span.end_time or 0, attributes, [], error,
    )  # fmt: skip


def _read_attributes(values: Mapping[str, Any] | None) -> dict[str, JSON]:
    return {name: _json_of(value) for name, value in (values or {}).items()}


def _json_of(value: object) -> JSON:
    """An attribute as JSON. A text that is longer than any that is kept is cut."""
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _json_of(each) for key, each in list(value.items())[:_MOST_ITEMS]}
    if isinstance(value, list | tuple):
        return [_json_of(each) for each in value[:_MOST_ITEMS]]
    return str(value)[:_LONGEST_TEXT]
