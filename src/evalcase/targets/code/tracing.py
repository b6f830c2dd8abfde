"""Spans of code that runs in this process, collected for each trial by the id of its trace.

The code is instrumented by whatever it likes: its spans come to the tracer provider of the process,
and ours is one more reader of that. Where it has set none up, we do, and nothing is exported.
What comes after an answer was given is of nobody any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evalcase.errors import ConfigError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.question import Question
from evalcase.model.quick_dataclass import replace
from evalcase.model.quick_tuple import NamedTuple
from evalcase.traces.labels import CASE, REPEAT, SUITE
from evalcase.traces.span import BadTraceError, SpanEvent, TraceSpan
from evalcase.traces.steps import keep_steps
from evalcase.traces.store import MOST_PIECES
from evalcase.traces.told import tell_trace

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer


class TracedCall:
    """What was seen of one call: the id of its trace, and the spans that ended within it."""

    def __init__(self) -> None:
        self.trace = ""
        self.spans: list[ReadableSpan] = []
        self.own = 0
        """The id of our span around the call, which is no step of whoever is called."""

    def add(self, span: ReadableSpan) -> None:
        if len(self.spans) < MOST_PIECES:
            self.spans.append(span)

    def with_steps(self, answer: Answer) -> Answer:
        """The answer with the steps that led to it; and with tokens, where it says none itself."""
        try:
            told = tell_trace([_plain(span) for span in self.spans])
        except BadTraceError:
            return replace(answer, trace=self.trace)
        kept = keep_steps(told.nodes)
        return replace(
            answer, steps=kept.steps, steps_cut=kept.cut, trace=self.trace,
            usage=told.usage if answer.usage is None else answer.usage,
        )  # fmt: skip


class TracedReturn(NamedTuple):
    """What a plain function returned, and what was seen of its call."""

    value: object
    call: TracedCall


class Tracing:
    """Begins a trace for each call, and collects what belongs to it."""

    def __init__(self) -> None:
        self._under_way: dict[int, TracedCall] = {}
        self._tracer: Tracer | None = None

    def open(self) -> None:
        """Begin to listen. Raise ConfigError if OpenTelemetry is not installed."""
        try:
            from opentelemetry import trace
            from opentelemetry.sdk.trace import TracerProvider
        except ImportError:
            what = "`trace` needs opentelemetry-sdk, which the extra `otel` brings"
            raise ConfigError(f"python target: {what}") from None
        provider = trace.get_tracer_provider()
        if not isinstance(provider, TracerProvider):
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace.sampling import ALWAYS_ON

            provider = TracerProvider(
                sampler=ALWAYS_ON, resource=Resource.get_empty(), shutdown_on_exit=False
            )
            trace.set_tracer_provider(provider)
        provider.add_span_processor(_listener(self._under_way))
        self._tracer = provider.get_tracer("evalcase")

    @contextmanager
    def call(self, question: Question) -> Iterator[TracedCall]:
        """What is done within is one trace, whose first span names its case."""
        from opentelemetry.context import Context

        assert self._tracer is not None, "open() comes first"
        about: dict[str, str | int] = {
            CASE: question.case, SUITE: question.suite, REPEAT: question.repeat,
        }  # fmt: skip
        traced, number = TracedCall(), 0
        try:
            with self._tracer.start_as_current_span(
                "trial", context=Context(), attributes=about
            ) as span:
                context = span.get_span_context()
                traced.own, number = context.span_id, context.trace_id
                traced.trace = f"{number:032x}"
                self._under_way[number] = traced
                yield traced
        finally:
            self._under_way.pop(number, None)

    def run(
        self, question: Question, function: Callable[..., object], /, *by_place: object,
        **by_name: object,
    ) -> TracedReturn:  # fmt: skip
        """Call a plain function, in the thread that this is called in."""
        with self.call(question) as traced:
            value = function(*by_place, **by_name)
        return TracedReturn(value, traced)

    def close(self) -> None:
        """Listen no more: a provider has no way to let go of whoever listens to it."""
        self._under_way.clear()
        self._tracer = None


def _listener(under_way: Mapping[int, TracedCall]) -> Any:  # noqa: ANN401 - of a class made here
    from opentelemetry.sdk.trace import SpanProcessor

    class _Collector(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            if span.context is not None:
                traced = under_way.get(span.context.trace_id)
                if traced is not None and span.context.span_id != traced.own:
                    traced.add(span)

    return _Collector()


def _plain(span: ReadableSpan) -> TraceSpan:
    from opentelemetry.trace import StatusCode

    assert span.context is not None
    attributes = _attributes(span.attributes)
    events = [SpanEvent(each.name, _attributes(each.attributes)) for each in span.events]
    error = None
    if span.status.status_code is StatusCode.ERROR:
        error = span.status.description or str(attributes.get("error.type") or "")
    return TraceSpan(
        f"{span.context.span_id:016x}",
        "" if span.parent is None else f"{span.parent.span_id:016x}",
        span.name, span.start_time or 0, span.end_time or 0, attributes, events, error,
    )  # fmt: skip


def _attributes(values: Mapping[str, Any] | None) -> dict[str, JSON]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in (values or {}).items()
    }
