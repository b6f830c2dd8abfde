"""The spans of a trace to the steps that are kept with an answer, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from typing import NamedTuple

from evalcase.traces.dialects.read import read_arguments
from evalcase.traces.genai import model_of, tool_of, usage_of
from evalcase.traces.tree import SpanNode
from evalcase.types.message import Step
from evalcase.types.value import JSON
from evalcase.util.json import whole_text

MOST_STEPS = 200
_LONGEST_INPUT = 2000
_LONGEST_ERROR = 500
_DEEPEST = 50


class KeptSteps(NamedTuple):
    """The first steps of a trace, and how many more there were."""

    steps: tuple[Step, ...]
    cut: int


def keep_steps(nodes: Sequence[SpanNode]) -> KeptSteps:
    first_ns = min((node.span.start_ns for node in nodes if node.span.start_ns), default=0)
    kept = tuple([_make_step(node, first_ns) for node in nodes[:MOST_STEPS]])
    return KeptSteps(kept, len(nodes) - len(kept))


def _make_step(node: SpanNode, first_ns: int) -> Step:
    span, is_model, is_tool = node.span, node.kind == "model", node.kind == "tool"
    given, is_cut = _bound_value(read_arguments(span)) if is_tool else (None, False)
    usage = usage_of(span) if is_model else None
    return Step(
        whole_text(span.name), node.kind, min(node.depth, _DEEPEST),
        round(max(0, span.start_ns - first_ns) / 1e9, 6), span.duration_s,
        None if span.error is None else whole_text(span.error[:_LONGEST_ERROR]),
        whole_text(tool_of(span)[:200]) if is_tool else None, given, is_cut,
        model_of(span) if is_model else None,
        usage.input_tokens if usage is not None else None,
        usage.output_tokens if usage is not None else None,
    )  # fmt: skip


def _bound_value(value: JSON) -> tuple[JSON, bool]:
    """A value where it is small enough to be kept, and whether it is not."""
    text = dumps(value, ensure_ascii=False)
    if len(text) > _LONGEST_INPUT or whole_text(text) != text:
        return None, True
    return value, False
