"""OpenTelemetry spans of Python code that runs in this process, collected for each call.

The code is instrumented by any library: its spans come to the tracer provider of the process, and
we add a span processor to that. If there is no provider, we set one up that exports nothing. Spans
that end after the answer was given are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import StatusCode, Tracer

from evalcase.errors import ConfigError
from evalcase.tracing.context import CASE, REPEAT, SUITE, TURN, PendingCalls
from evalcase.tracing.dialects import usage_of
from evalcase.tracing.otlp import MAX_SPANS, BadTraceError, SpanEvent, TraceSpan, find_reason
from evalcase.tracing.trace import SpanNode, arrange_spans, find_models, read_steps
from evalcase.types.answer import Answer, sum_usage
from evalcase.types.message import Message
from evalcase.types.target import Question
from evalcase.types.value import JSON, replace
from evalcase.util.calls import UNREAD, list_steps

_LONGEST_TEXT = 20_000
_MOST_ITEMS = 1_000
"""Bounds of an attribute, so that many spans take little memory."""


class TracedCall:
    """The trace of one call: its id, and the spans that ended within it."""

    def __init__(self) -> None:
        self.trace = ""
        self.own = 0
        """The id of our span around the call, which is no step of the agent."""
        self._spans: list[TraceSpan] = []
        self._lost = 0

    def add(self, span: ReadableSpan) -> None:
        if len(self._spans) < MAX_SPANS:
            self._spans.append(_read_span(span))
        else:
            self._lost += 1

    def add_to(self, answer: Answer) -> Answer:
        """The answer with its steps; and with tokens, where it has none itself."""
        nodes = self._arrange()
        steps, cut = read_steps(nodes)
        usage, cut = answer.usage, cut + self._lost
        if usage is None and not self._lost:
            usage = sum_usage([usage_of(span) for span in find_models(nodes)])
        messages = answer.messages
        if self._lost or any(node.kind == "tool" for node in nodes[len(steps) :]):
            # Steps that are calls of tools count as the answer's calls, and some are not kept.
            note = {UNREAD: [f"{cut:,} steps of the trace that are not kept"]}
            messages = (*messages[:-1], Message({**messages[-1], **note}))
        return replace(
            answer, messages=messages, steps=steps, steps_cut=cut,
            trace=self.trace or None, usage=usage,
        )  # fmt: skip

    def describe(self) -> dict[str, JSON]:
        if not self.trace:
            return {}
        steps, cut = read_steps(self._arrange())
        return {"steps": [*list_steps(steps, cut + self._lost)], "trace": self.trace}

    def _arrange(self) -> list[SpanNode]:
        spans = list(self._spans)  # a thread that was abandoned may still add to them
        try:
            return arrange_spans(spans)
        except BadTraceError:  # ids are the user's to make, too
            self._lost += len(spans)
            return []


class Tracing(SpanProcessor):
    """Starts a trace for each call, and collects its spans."""

    def __init__(self) -> None:
        self._running: dict[int, TracedCall] = {}
        self._pending = PendingCalls()
        self.seen_of = self._pending.seen_of
        self._tracer: Tracer | None = None

    def open(self) -> None:
        """Start to listen. Raise ConfigError if there is nothing to be heard."""
        provider: Any = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):
            provider = TracerProvider(
                sampler=ALWAYS_ON, resource=Resource.get_empty(), shutdown_on_exit=False
            )
            trace.set_tracer_provider(provider)
        if not callable(getattr(provider, "add_span_processor", None)):
            kind = f"{type(provider).__module__}.{type(provider).__qualname__}"
            what = f"can't listen to {kind}, the tracer provider that the agent has set up"
            raise ConfigError(f"python target: `trace` {what}")
        tracer = provider.get_tracer("evalcase")
        if isinstance(tracer, trace.NoOpTracer):
            what = "sees nothing: OTEL_SDK_DISABLED switches OpenTelemetry off"
            raise ConfigError(f"python target: `trace` {what}")
        provider.add_span_processor(self)
        self._tracer = tracer

    @contextmanager
    def call(self, question: Question) -> Iterator[TracedCall]:
        """All that is done within is one trace, whose first span names its case."""
        assert self._tracer is not None, "open() comes first"
        labels: dict[str, str | int] = {
            CASE: question.case, SUITE: question.suite, REPEAT: question.repeat,
            TURN: question.turn,
        }  # fmt: skip
        traced = TracedCall()
        span = self._tracer.start_as_current_span("trial", context=Context(), attributes=labels)
        with self._pending.during(question, traced.describe), span as own:
            context = own.get_span_context()
            traced.own = context.span_id
            if not context.is_valid:
                yield traced
                return
            traced.trace = f"{context.trace_id:032x}"
            self._running[context.trace_id] = traced
            try:
                yield traced
            finally:
                self._running.pop(context.trace_id, None)

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None:
            traced = self._running.get(span.context.trace_id)
            if traced is not None and span.context.span_id != traced.own:
                traced.add(span)

    def close(self) -> None:
        """A provider has no way to remove a processor; it hears of no call any more."""
        self._running.clear()
        self._pending.clear()
        self._tracer = None


def _read_span(span: ReadableSpan) -> TraceSpan:
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
    return {name: _to_json(value) for name, value in (values or {}).items()}


def _to_json(value: object) -> JSON:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {str(key): _to_json(each) for key, each in list(value.items())[:_MOST_ITEMS]}
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value[:_MOST_ITEMS]]
    return str(value)[:_LONGEST_TEXT]
