"""What a trace tells: what was asked, what was said and called in which order, and what it took.

What models said comes in the order in which they ended, calls of tools when they began. A call that
a model says it makes, and the span of the tool, are one call: they have the same id, or else the
same name and arguments. Tokens and money are those of the calls of models alone, since agents
repeat them; one that is part of another is the same call, told by two instrumentations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from evalcase.traces.dialects.read import (
    read_arguments,
    read_asked,
    read_outcome,
    read_result,
    read_said,
)
from evalcase.traces.dialects.said import SaidMessage, SpanMessages
from evalcase.traces.failed import find_error
from evalcase.traces.genai import cost_of, ending_of, model_of, tool_of, usage_of
from evalcase.traces.span import TraceSpan
from evalcase.traces.tree import SpanNode, arrange_spans, duration_of
from evalcase.types.answer import Usage, sum_usage
from evalcase.types.message import StepKind
from evalcase.types.value import JSON, write_alike


class ToldTrace(NamedTuple):
    """One trace, as an answer to a question has it."""

    asked: list[SaidMessage]
    messages: list[SaidMessage]
    usage: Usage | None
    cost_usd: float | None
    duration_s: float | None
    model: str | None
    error: str | None
    """Why the whole of it failed; None where it didn't."""
    nodes: list[SpanNode]


def tell_trace(spans: Sequence[TraceSpan]) -> ToldTrace:
    """Raise BadTraceError where what was answered can't be read."""
    nodes = arrange_spans(spans)
    models = find_models(nodes)
    said = {span.id: read_said(span) for span in models}
    transcript = _Transcript()
    for node in sorted(nodes, key=_time_of_node):
        if node.span.id in said:
            transcript.say(said[node.span.id], ending_of(node.span))
        elif node.kind == "tool" and not _is_repeated(node):
            transcript.call(node.span)
    transcript.settle(said.values())
    names = {model_of(span) for span in models}
    costs = [cost_of(span) for span in models]
    known = [cost for cost in costs if cost is not None]
    return ToldTrace(
        _find_asked(nodes, models, said), transcript.ended(nodes),
        sum_usage([usage_of(span) for span in models]),
        sum(known) if known and len(known) == len(costs) else None,
        duration_of(nodes), names.pop() if len(names) == 1 else None,
        find_error(nodes, models), nodes,
    )  # fmt: skip


def find_models(nodes: Sequence[SpanNode]) -> list[TraceSpan]:
    """The calls of models; where nobody traced any, agents that tell of no other."""
    kinds = {node.kind for node in nodes}
    kind: StepKind = "model" if "model" in kinds else "agent"
    return [each.span for each in nodes if each.kind == kind and each.within != kind]


def _time_of_node(node: SpanNode) -> int:
    span = node.span
    return span.start_ns if node.kind == "tool" else span.end_ns or span.start_ns


def _is_repeated(node: SpanNode) -> bool:
    """Whether the span above is of the same call, by another instrumentation."""
    above = node.above
    return above is not None and above.kind == "tool" and tool_of(above.span) == tool_of(node.span)


def _find_asked(
    nodes: Sequence[SpanNode], models: Sequence[TraceSpan], said: dict[str, SpanMessages]
) -> list[SaidMessage]:
    """What the model that ended last was given, up to the last of the user: what went before that
    is the conversation so far. Or else what the first span says that it was asked."""
    last = max(models, key=lambda span: span.end_ns, default=None)
    given = said[last.id].input if last is not None else []
    ends = [number for number, each in enumerate(given) if each["role"] == "user"]
    if ends:
        return given[: ends[-1] + 1]
    return next((asked for node in nodes if (asked := read_asked(node.span))), [])


class _Transcript:
    """What was said, message by message, with the calls that are not answered yet."""

    def __init__(self) -> None:
        self._messages: list[SaidMessage] = []
        self._by_id: dict[str, dict[str, Any]] = {}
        self._waiting: dict[str, deque[dict[str, Any]]] = {}
        """Calls of which no span of a tool was seen, by name and arguments."""
        self._ends_in_text = False

    def say(self, said: SpanMessages, ending: str | None) -> None:
        for message in said.output:
            self._add(message)
        last = said.output[-1] if said.output else {}
        if last and ending is not None:
            last["finish_reason"] = ending
        self._ends_in_text = bool(last.get("content"))

    def call(self, span: TraceSpan) -> None:
        made = self._find(span)
        result = read_result(span)
        if result is not None:
            made["output"] = result
        if span.error is not None:
            made["is_error"] = True
            if span.error:
                made.setdefault("output", span.error)

    def settle(self, several: Iterable[SpanMessages]) -> None:
        """Take the results of tools that have no spans from what models were told of them."""
        for said in several:
            for message in said.input:
                made = self._by_id.get(str(message.get("tool_call_id")))
                if message["role"] == "tool" and made is not None:
                    made.setdefault("output", message.get("content"))

    def ended(self, nodes: Sequence[SpanNode]) -> list[SaidMessage]:
        """All messages. Where no model says the last of it, whoever asked the model may."""
        if self._ends_in_text:
            return self._messages
        for node in nodes:
            if node.kind not in ("model", "tool") and (outcome := read_outcome(node.span)):
                return [*self._messages, *outcome]
        return self._messages

    def _add(self, message: SaidMessage) -> None:
        self._messages.append(message)
        for call in message.get("tool_calls", ()):
            if "id" in call:
                self._by_id.setdefault(call["id"], call)
            self._waiting.setdefault(_key_of_call(call["tool"], call.get("input")), deque()).append(
                call
            )

    def _find(self, span: TraceSpan) -> dict[str, Any]:
        """The call that a span is of: one that a model has announced, or a new one."""
        name, arguments, id = tool_of(span), read_arguments(span), _id_of_call(span)
        if id in self._by_id:
            return self._by_id[id]
        made = self._take_waiting(_key_of_call(name, arguments), id)
        if made is not None:
            return made
        given = {} if arguments is None else {"input": arguments}
        call: dict[str, Any] = {"tool": name, **given, **({"id": id} if id else {})}
        self._messages.append({"role": "assistant", "tool_calls": [call]})
        if id:
            self._by_id[id] = call
        return call

    def _take_waiting(self, alike: str, id: str) -> dict[str, Any] | None:
        """A call of the same name and arguments, of which no result is known. One whose id is
        another's is another call."""
        waiting = self._waiting.get(alike)
        while waiting:
            if id and waiting[0].get("id"):
                return None
            made = waiting.popleft()
            if "output" not in made:
                return made
        return None


def _id_of_call(span: TraceSpan) -> str:
    return span.text("gen_ai.tool.call.id", "tool_call.id") or ""


def _key_of_call(name: str, arguments: JSON) -> str:
    return write_alike([name, arguments])
