"""Spans of code that runs in this process, collected for each trial by the id of its trace.

The code is instrumented by whatever it likes: its spans come to the tracer provider of the process,
and ours is one more reader of that. Where it has set none up, we do, and nothing is exported.
What comes after an answer was given is of nobody any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.errors import ConfigError
from evalcase.targets.code.traced_call import TracedCall
from evalcase.tracing.context import CASE, REPEAT, SUITE, TURN, PendingCalls
from evalcase.types.question import Question
from evalcase.types.value import JSON

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer, TracerProvider


class TracedReturn(NamedTuple):
    """What a plain function returned, and what was seen of its call."""

    value: object
    call: TracedCall


class Tracing:
    """Begins a trace for each call, and collects what belongs to it."""

    def __init__(self) -> None:
        self._under_way: dict[int, TracedCall] = {}
        self._unanswered: PendingCalls[TracedCall] = PendingCalls()
        self._tracer: Tracer | None = None

    def open(self) -> None:
        """Begin to listen. Raise ConfigError where there is nothing to be heard."""
        try:
            provider, is_off = _find_provider()
        except ImportError:
            raise _make_refusal(
                "needs opentelemetry-sdk, from the extra `otel`: "
                'pip install "opentelemetry-sdk>=1.30"'
            ) from None
        listen = getattr(provider, "add_span_processor", None)
        if not callable(listen):
            kind = f"{type(provider).__module__}.{type(provider).__qualname__}"
            raise _make_refusal(
                f"can't listen to {kind}, the tracer provider that the agent has set up"
            )
        if is_off:
            raise _make_refusal("sees nothing: OTEL_SDK_DISABLED switches OpenTelemetry off")
        listen(_make_listener(self._under_way))
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
        self._unanswered.put(question, traced)
        try:
            with self._tracer.start_as_current_span(
                "trial", context=Context(), attributes=about
            ) as span:
                context = span.get_span_context()
                traced.own, number = context.span_id, context.trace_id
                if context.is_valid:
                    traced.trace = f"{number:032x}"
                    self._under_way[number] = traced
                yield traced
            self._unanswered.take(question)
        finally:
            self._under_way.pop(number, None)

    def seen_of(self, question: Question) -> dict[str, JSON]:
        """What was seen of a call that gave no answer, until now; it is told once."""
        traced = self._unanswered.take(question)
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


def _make_refusal(why: str) -> ConfigError:
    return ConfigError(f"python target: `trace` {why}")


def _find_provider() -> tuple[TracerProvider, bool]:
    """That of the process; where nobody has set one up, one that exports nothing. And whether it
    is switched off."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider as OwnProvider

    provider = trace.get_tracer_provider()
    if not isinstance(provider, trace.ProxyTracerProvider):
        return provider, isinstance(provider.get_tracer("evalcase"), trace.NoOpTracer)
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    own = OwnProvider(sampler=ALWAYS_ON, resource=Resource.get_empty(), shutdown_on_exit=False)
    trace.set_tracer_provider(own)
    return own, isinstance(own.get_tracer("evalcase"), trace.NoOpTracer)


def _make_listener(under_way: Mapping[int, TracedCall]) -> Any:  # noqa: ANN401 - of a class made here
    from opentelemetry.sdk.trace import SpanProcessor

    class _Collector(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            if span.context is not None:
                traced = under_way.get(span.context.trace_id)
                if traced is not None and span.context.span_id != traced.own:
                    traced.add(span)

    return _Collector()
