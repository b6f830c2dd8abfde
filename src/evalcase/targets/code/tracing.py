"""Spans of code that runs in this process, collected for each trial by the id of its trace.

The code is instrumented by whatever it likes: its spans come to the tracer provider of the process,
and ours is one more reader of that. Where it has set none up, we do, and nothing is exported.
What comes after an answer was given is of nobody any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

from evalcase.errors import ConfigError
from evalcase.model.answer import Answer, sum_usage
from evalcase.model.json_value import JSON
from evalcase.model.question import Question
from evalcase.model.quick_dataclass import replace
from evalcase.model.quick_tuple import NamedTuple
from evalcase.text.step_text import list_steps
from evalcase.traces.genai import usage_of
from evalcase.traces.labels import CASE, REPEAT, SUITE, TURN
from evalcase.traces.span import BadTraceError, SpanEvent, TraceSpan, find_reason
from evalcase.traces.steps import keep_steps
from evalcase.traces.store import MOST_PIECES
from evalcase.traces.told import find_models
from evalcase.traces.tree import SpanNode, arrange_spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

_LONGEST_TEXT = 20_000
_MOST_ITEMS = 1_000
"""What is kept of an attribute, so that many spans take little room."""
_CallKey = tuple[str, int, int]
"""The session, the turn and the attempt of a question: no two calls have the same."""


class TracedCall:
    """What was seen of one call: the id of its trace, and the spans that ended within it."""

    def __init__(self) -> None:
        self.trace = ""
        self.own = 0
        """The id of our span around the call, which is no step of whoever is called."""
        self._spans: list[TraceSpan] = []
        self._lost = 0

    def add(self, span: ReadableSpan) -> None:
        if len(self._spans) < MOST_PIECES:
            self._spans.append(_digest(span))
        else:
            self._lost += 1

    def with_steps(self, answer: Answer) -> Answer:
        """The answer with the steps that led to it; and with tokens, where it says none itself."""
        nodes = self._arranged()
        kept = keep_steps(nodes)
        usage, cut = answer.usage, kept.cut + self._lost
        if usage is None and not self._lost:
            usage = sum_usage([usage_of(span) for span in find_models(nodes)])
        return replace(answer, steps=kept.steps, steps_cut=cut, trace=self.trace, usage=usage)

    def seen(self) -> dict[str, JSON]:
        """The steps that there were, and the trace, for whoever looks for the cause of an error."""
        kept = keep_steps(self._arranged())
        return {"steps": [*list_steps(kept.steps, kept.cut + self._lost)], "trace": self.trace}

    def _arranged(self) -> list[SpanNode]:
        spans = list(self._spans)  # a thread that was left may still add to them
        try:
            return arrange_spans(spans)
        except BadTraceError:  # ids are the user's to make, too
            self._lost += len(spans)
            return []


class TracedReturn(NamedTuple):
    """What a plain function returned, and what was seen of its call."""

    value: object
    call: TracedCall


class Tracing:
    """Begins a trace for each call, and collects what belongs to it."""

    def __init__(self) -> None:
        self._under_way: dict[int, TracedCall] = {}
        self._unanswered: dict[_CallKey, TracedCall] = {}
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
            TURN: question.turn,
        }  # fmt: skip
        traced, number = TracedCall(), 0
        key = _key_of(question)
        self._unanswered[key] = traced
        try:
            with self._tracer.start_as_current_span(
                "trial", context=Context(), attributes=about
            ) as span:
                context = span.get_span_context()
                traced.own, number = context.span_id, context.trace_id
                traced.trace = f"{number:032x}"
                self._under_way[number] = traced
                yield traced
            self._unanswered.pop(key, None)
        finally:
            self._under_way.pop(number, None)

    def seen_of(self, question: Question) -> dict[str, JSON]:
        """What was seen of a call that gave no answer, until now; it is told once."""
        traced = self._unanswered.pop(_key_of(question), None)
        return {} if traced is None or not traced.trace else traced.seen()

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
        self._unanswered.clear()
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


def _key_of(question: Question) -> _CallKey:
    return question.session, question.turn, question.attempt


def _digest(span: ReadableSpan) -> TraceSpan:
    """What is needed of a span. The rest of it, whole conversations, is let go at once."""
    from opentelemetry.trace import StatusCode

    assert span.context is not None
    attributes = _attributes(span.attributes)
    error = None
    if span.status.status_code is StatusCode.ERROR:
        events = [SpanEvent(each.name, _attributes(each.attributes)) for each in span.events]
        error = find_reason(span.status.description or "", events, attributes)
    return TraceSpan(
        f"{span.context.span_id:016x}",
        "" if span.parent is None else f"{span.parent.span_id:016x}",
        span.name[:_LONGEST_TEXT], span.start_time or 0, span.end_time or 0, attributes, [], error,
    )  # fmt: skip


def _attributes(values: Mapping[str, Any] | None) -> dict[str, JSON]:
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
