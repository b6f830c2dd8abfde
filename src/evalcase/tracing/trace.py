"""A trace to a transcript: what was asked, said and called in order, what it used, how it ended.

Models speak when they end, tools are called when they start. A call that a model announces and the
span of the tool are one call: they share an id, or a name and arguments. Tokens and cost are those
of model calls alone, since agents repeat them; a model call within another is the same call,
recorded by two instrumentations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from json import dumps
from typing import Any, NamedTuple

from evalcase.tracing.dialects import (
    ARGUMENTS,
    RESULT,
    MessageDict,
    SpanMessages,
    asked_of,
    call_id_of,
    cost_of,
    data_of,
    finish_reason_of,
    kind_of,
    model_of,
    outcome_of,
    read_messages,
    tool_of,
    usage_of,
)
from evalcase.tracing.otlp import BadTraceError, TraceSpan, seconds_between
from evalcase.types.answer import Usage, sum_usage
from evalcase.types.message import Step, StepKind
from evalcase.types.value import JSON, canonical_text
from evalcase.util.json import whole_text

MAX_STEPS = 200
_MAX_STEP_INPUT = 2000
_MAX_STEP_ERROR = 500
_MAX_STEP_DEPTH = 50
_CUT_OFF = "its first span is missing: did the program end before that was exported?"


class SpanNode(NamedTuple):
    span: TraceSpan
    kind: StepKind
    depth: int
    above: SpanNode | None
    """Its parent; None for the first span, and if the parent is missing."""
    within: StepKind = "other"
    """The kind of the nearest span above that is a model, a tool or an agent."""


class Transcript(NamedTuple):
    asked: list[MessageDict]
    messages: list[MessageDict]
    usage: Usage | None
    cost_usd: float | None
    duration_s: float | None
    model: str | None
    error: str | None
    """Why the whole trace failed; None if it did not."""
    nodes: list[SpanNode]


def read_transcript(spans: Sequence[TraceSpan]) -> Transcript:
    """Raise BadTraceError if the answer can't be read."""
    nodes = arrange_spans(spans)
    models = find_models(nodes)
    said = {span.id: read_messages(span) for span in models}
    builder = _TranscriptBuilder()
    ends_in_text = False

    def time_of(node: SpanNode) -> int:
        span = node.span
        return span.start_ns if node.kind == "tool" else span.end_ns or span.start_ns

    for node in sorted(nodes, key=time_of):
        if node.span.id in said:
            output = said[node.span.id].output
            reason = finish_reason_of(node.span)
            if output and reason is not None:
                output[-1]["finish_reason"] = reason
            builder.add(output)
            ends_in_text = bool(output and output[-1].get("content"))
        elif node.kind == "tool":
            above = node.above
            # The span above may be the same call, recorded by another instrumentation.
            if above is None or above.kind != "tool" or tool_of(above.span) != tool_of(node.span):
                builder.call(node.span)
    builder.add_results(said.values())
    messages = builder.messages
    if not ends_in_text:  # no model has the last word, so an agent may have it
        agents = (node.span for node in nodes if node.kind not in ("model", "tool"))
        messages = messages + next(filter(None, map(outcome_of, agents)), [])
    names = {model_of(span) for span in models}
    costs = [cost for span in models if (cost := cost_of(span)) is not None]
    return Transcript(
        _find_asked(nodes, models, said), messages,
        sum_usage([usage_of(span) for span in models]),
        sum(costs) if costs and len(costs) == len(models) else None,
        _duration_of(nodes), names.pop() if len(names) == 1 else None,
        _find_error(nodes, models), nodes,
    )  # fmt: skip


def find_models(nodes: Sequence[SpanNode]) -> list[TraceSpan]:
    """The outermost model calls; if no model was traced, the outermost agents."""
    kind: StepKind = "model" if any(node.kind == "model" for node in nodes) else "agent"
    return [each.span for each in nodes if each.kind == kind and each.within != kind]


def arrange_spans(spans: Sequence[TraceSpan]) -> list[SpanNode]:
    """Every span, parents first, by time. Raise BadTraceError if parents form a circle."""
    known = {span.id for span in spans}
    parts: dict[str, list[TraceSpan]] = {}
    for span in spans:
        parts.setdefault(span.parent if span.parent in known else "", []).append(span)
    for several in parts.values():
        several.sort(key=lambda each: each.start_ns, reverse=True)
    nodes: list[SpanNode] = []
    left: list[tuple[TraceSpan, SpanNode | None]] = [(each, None) for each in parts.get("", ())]
    while left:
        span, above = left.pop()
        node = SpanNode(span, kind_of(span), 0, None)
        if above is not None:
            within = above.within if above.kind == "other" else above.kind
            node = node._replace(depth=above.depth + 1, above=above, within=within)
        nodes.append(node)
        left.extend((each, node) for each in parts.get(span.id, ()))
    if len(nodes) < len(spans):
        raise BadTraceError("the parents of its spans go round in a circle")
    return nodes


def read_steps(nodes: Sequence[SpanNode]) -> tuple[tuple[Step, ...], int]:
    """The first steps, which are stored with an answer, and how many were cut off."""
    first_ns = min((node.span.start_ns for node in nodes if node.span.start_ns), default=0)
    steps = []
    for node in nodes[:MAX_STEPS]:
        span, is_model, is_tool = node.span, node.kind == "model", node.kind == "tool"
        given: JSON = data_of(span, ARGUMENTS) if is_tool else None
        text = dumps(given, ensure_ascii=False)
        is_cut = len(text) > _MAX_STEP_INPUT or whole_text(text) != text
        usage = (usage_of(span) if is_model else None) or Usage()
        steps.append(Step(
            whole_text(span.name), node.kind, min(node.depth, _MAX_STEP_DEPTH),
            round(max(0, span.start_ns - first_ns) / 1e9, 6), span.duration_s,
            None if span.error is None else whole_text(span.error[:_MAX_STEP_ERROR]),
            whole_text(tool_of(span)[:200]) if is_tool else None, None if is_cut else given, is_cut,
            model_of(span) if is_model else None, usage.input_tokens, usage.output_tokens,
        ))  # fmt: skip
    return tuple(steps), len(nodes) - len(steps)


def _duration_of(nodes: Sequence[SpanNode]) -> float | None:
    """The time of the first span, or of all spans if the first is missing."""
    roots = [node.span for node in nodes if node.above is None]
    if len(roots) == 1:
        return roots[0].duration_s
    starts = [span.start_ns for span in roots if span.start_ns]
    return seconds_between(min(starts, default=0), max((span.end_ns for span in roots), default=0))


def _find_asked(
    nodes: Sequence[SpanNode], models: Sequence[TraceSpan], said: dict[str, SpanMessages]
) -> list[MessageDict]:
    """The input of the model that ended last, up to the last user message; it begins with the
    conversation so far. Otherwise, what the first span says that it was asked."""
    last = max(models, key=lambda span: span.end_ns, default=None)
    given = said[last.id].input if last is not None else []
    ends = [number for number, each in enumerate(given) if each["role"] == "user"]
    if ends:
        return given[: ends[-1] + 1]
    return next((asked for node in nodes if (asked := asked_of(node.span))), [])


def _find_error(nodes: Sequence[SpanNode], models: Sequence[TraceSpan]) -> str | None:
    """Why the whole trace failed. The code around an agent may catch its exception, so the last
    agent or model counts, too. A failure that was retried with success does not."""
    first = [node.span for node in nodes if node.above is None]
    agents = [node.span for node in nodes if node.kind == "agent" and node.within == "other"]
    inner = agents or models
    last = [max(reversed(inner), key=lambda span: span.end_ns)] if inner else []
    for span in (*first, *last):
        if span.error is not None:
            return f"`{span.name}` failed: {span.error or 'no reason'}"
    for span in (*first, *inner):
        if span.start_ns and not span.end_ns:
            return f"`{span.name}` has not ended: did the program end before it?"
    return _CUT_OFF if first and all(span.has_local_parent for span in first) else None


class _TranscriptBuilder:
    """Messages, with the calls in them that no tool span was matched to."""

    def __init__(self) -> None:
        self.messages: list[MessageDict] = []
        self._by_id: dict[str, dict[str, Any]] = {}
        self._waiting: dict[str, deque[dict[str, Any]]] = {}
        """Announced calls, by name and arguments."""

    def add(self, messages: Iterable[MessageDict]) -> None:
        for message in messages:
            self.messages.append(message)
            for call in message.get("tool_calls", ()):
                if "id" in call:
                    self._by_id.setdefault(call["id"], call)
                key = canonical_text([call["tool"], call.get("input")])
                self._waiting.setdefault(key, deque()).append(call)

    def call(self, span: TraceSpan) -> None:
        """Match a tool span to an announced call, or add a new call."""
        name, arguments, id = tool_of(span), data_of(span, ARGUMENTS), call_id_of(span)
        call = self._by_id.get(id) or self._take_waiting(canonical_text([name, arguments]), id)
        if call is None:
            call = {"tool": name, **({} if arguments is None else {"input": arguments})}
            if id:
                call["id"] = id
                self._by_id[id] = call
            self.messages.append({"role": "assistant", "tool_calls": [call]})
        result = data_of(span, RESULT)
        if result is not None:
            call["output"] = result
        if span.error is not None:
            call["is_error"] = True
            if span.error:
                call.setdefault("output", span.error)

    def add_results(self, several: Iterable[SpanMessages]) -> None:
        """Take the results of tools without spans from the input of later model calls."""
        for said in several:
            for message in said.input:
                call = self._by_id.get(str(message.get("tool_call_id")))
                if message["role"] == "tool" and call is not None:
                    call.setdefault("output", message.get("content"))

    def _take_waiting(self, key: str, id: str) -> dict[str, Any] | None:
        """A call with the same name and arguments and no result. With another id it is another."""
        waiting = self._waiting.get(key)
        while waiting:
            if id and waiting[0].get("id"):
                return None
            call = waiting.popleft()
            if "output" not in call:
                return call
        return None
