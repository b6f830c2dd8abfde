"""What a span is: a call of a model, of a tool, an agent, or anything else.

All of `gen_ai.*` is still in development, and instrumentations differ: this is the one place that
knows the names by which they say so. They are those of the last version of the conventions that
had them among all others; their own repository, to which they moved since, has no release yet.
"""

from __future__ import annotations

from evalcase.traces.span import TraceSpan
from evalcase.types.answer import MOST_TOKENS, MOST_USD, Usage
from evalcase.types.message import StepKind
from evalcase.util.json import whole_text

CONVENTIONS = "1.41.0"
"""The version of OpenTelemetry's semantic conventions whose names are read and written."""

_BY_OPERATION: dict[str, StepKind] = {
    "chat": "model", "text_completion": "model", "generate_content": "model",
    "execute_tool": "tool",
    "invoke_agent": "agent", "create_agent": "agent", "invoke_workflow": "agent",
}  # fmt: skip
_BY_OPENINFERENCE: dict[str, StepKind] = {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}
_BY_TRACELOOP: dict[str, StepKind] = {"tool": "tool", "agent": "agent", "workflow": "agent"}
_BY_REQUEST: dict[str, StepKind] = {"chat": "model", "completion": "model"}
_SAID_BY: tuple[tuple[str, dict[str, StepKind]], ...] = (
    ("gen_ai.operation.name", _BY_OPERATION),
    ("openinference.span.kind", _BY_OPENINFERENCE),
    ("traceloop.span.kind", _BY_TRACELOOP),
    ("llm.request.type", _BY_REQUEST),
)

_INPUT = (
    "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
)  # fmt: skip
_OUTPUT = (
    "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
    "llm.usage.completion_tokens",
)  # fmt: skip
_CACHED = (
    "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens", "llm.token_count.prompt_details.cache_read",
)  # fmt: skip
_COST = ("operation.cost", "gen_ai.usage.cost", "llm.cost.total")


def kind_of(span: TraceSpan) -> StepKind:
    """What a span is, by the first name that says so."""
    for name, kinds in _SAID_BY:
        said = span.attributes.get(name)
        if isinstance(said, str):
            return kinds.get(said, "other")
    return "tool" if "gen_ai.tool.name" in span.attributes else "other"


def usage_of(span: TraceSpan) -> Usage | None:
    """The tokens of a call of a model; None where it says nothing of them."""
    counts = [_read_tokens(span, names) for names in (_INPUT, _OUTPUT, _CACHED)]
    return None if counts[0] is None and counts[1] is None else Usage(*counts)


def cost_of(span: TraceSpan) -> float | None:
    cost = span.number(*_COST)
    return None if cost is None or cost > MOST_USD else float(cost)


def model_of(span: TraceSpan) -> str | None:
    name = span.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
    return None if name is None else whole_text(name[:200])


def ending_of(span: TraceSpan) -> str | None:
    """Why a model stopped, as its service says; None where it doesn't."""
    several = span.attributes.get("gen_ai.response.finish_reasons")
    if isinstance(several, list) and several and isinstance(several[0], str):
        return several[0]
    return span.text("llm.finish_reason", "gen_ai.completion.0.finish_reason")


def tool_of(span: TraceSpan) -> str:
    """The name of the tool that a span is a call of."""
    return span.text("gen_ai.tool.name", "tool.name", "traceloop.entity.name") or span.name


def _read_tokens(span: TraceSpan, names: tuple[str, ...]) -> int | None:
    number = span.number(*names)
    return int(number) if number is not None and number <= MOST_TOKENS else None
