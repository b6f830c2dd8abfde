"""The spans of a trace as a tree, each before what is part of it, in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evalcase.traces.genai import kind_of
from evalcase.traces.span import BadTraceError, TraceSpan, seconds_between
from evalcase.types.message import StepKind


class SpanNode(NamedTuple):
    """A span at its place."""

    span: TraceSpan
    kind: StepKind
    depth: int
    above: SpanNode | None
    """The span that it is part of; None for the first, and where that one is missing."""
    within: StepKind = "other"
    """What the nearest span is that it is part of, and that is a model, a tool or an agent."""


def arrange_spans(spans: Sequence[TraceSpan]) -> list[SpanNode]:
    """Every span, parents first. Raise BadTraceError where parents go round in a circle."""
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
        node = _place_span(span, above)
        nodes.append(node)
        left.extend((each, node) for each in parts.get(span.id, ()))
    if len(nodes) < len(spans):
        raise BadTraceError("the parents of its spans go round in a circle")
    return nodes


def _place_span(span: TraceSpan, above: SpanNode | None) -> SpanNode:
    if above is None:
        return SpanNode(span, kind_of(span), 0, None)
    within = above.within if above.kind == "other" else above.kind
    return SpanNode(span, kind_of(span), above.depth + 1, above, within)


def duration_of(nodes: Sequence[SpanNode]) -> float | None:
    """How long a trace took: its first span, or all of them where the first is missing."""
    roots = [node.span for node in nodes if node.above is None]
    if len(roots) == 1:
        return roots[0].duration_s
    starts = [span.start_ns for span in roots if span.start_ns]
    return seconds_between(min(starts, default=0), max((span.end_ns for span in roots), default=0))
