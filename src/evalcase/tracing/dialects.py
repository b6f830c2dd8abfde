"""What one span says, in the words of its instrumentation: its kind, its usage and its messages.

Instrumentations differ, and `gen_ai.*` is still in development: this is the only module that knows
their names. Messages come in four dialects: the conventions (`gen_ai.output.messages`),
openinference (`llm.output_messages.0.message.content`), openllmetry
(`gen_ai.completion.0.content`), and events of a span (`gen_ai.choice`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from evalcase.tracing.otlp import BadTraceError, SpanEvent, TraceSpan
from evalcase.types.answer import MOST_TOKENS, MOST_USD, Usage
from evalcase.types.message import OTHER_ROLES, ROLES, StepKind, parts_of
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json, whole_text

CONVENTIONS = "1.41.0"
"""The version of OpenTelemetry's semantic conventions whose names are read and written."""

MessageDict = dict[str, Any]

_KINDS: tuple[tuple[str, dict[str, StepKind]], ...] = (
    ("gen_ai.operation.name", {
        "chat": "model", "text_completion": "model", "generate_content": "model",
        "execute_tool": "tool",
        "invoke_agent": "agent", "create_agent": "agent", "invoke_workflow": "agent",
    }),
    ("openinference.span.kind", {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}),
    ("traceloop.span.kind", {"tool": "tool", "agent": "agent", "workflow": "agent"}),
    ("llm.request.type", {"chat": "model", "completion": "model"}),
)  # fmt: skip
_INPUT_TOKENS = (
    "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
)  # fmt: skip
_OUTPUT_TOKENS = (
    "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
    "llm.usage.completion_tokens",
)  # fmt: skip
_CACHED_TOKENS = (
    "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens", "llm.token_count.prompt_details.cache_read",
)  # fmt: skip
_COST = ("operation.cost", "gen_ai.usage.cost", "llm.cost.total")
ARGUMENTS = (
    "gen_ai.tool.call.arguments", "tool_arguments", "input.value", "traceloop.entity.input",
)  # fmt: skip
RESULT = ("gen_ai.tool.call.result", "tool_response", "output.value", "traceloop.entity.output")
_OUTCOME = ("final_result", "output.value", "traceloop.entity.output", "gen_ai.completion")
_ASKED = ("input.value", "traceloop.entity.input", "gen_ai.prompt")
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_SYSTEM = "gen_ai.system_instructions"
_DETAILS = "gen_ai.client.inference.operation.details"
_PARTS = ("tool_call", "tool_call_response", "reasoning")
_HOLDERS = re.compile(r"message(_content)?\.|tool_call\.(function\.)?")
"""What openinference puts before the names of openllmetry."""
_INPUT_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


class SpanMessages(NamedTuple):
    input: list[MessageDict]
    output: list[MessageDict]


def kind_of(span: TraceSpan) -> StepKind:
    for name, kinds in _KINDS:
        value = span.attributes.get(name)
        if isinstance(value, str):
            return kinds.get(value, "other")
    return "tool" if "gen_ai.tool.name" in span.attributes else "other"


def usage_of(span: TraceSpan) -> Usage | None:
    found = [span.number(*names) for names in (_INPUT_TOKENS, _OUTPUT_TOKENS, _CACHED_TOKENS)]
    counts = [None if each is None or each > MOST_TOKENS else int(each) for each in found]
    return None if counts[:2] == [None, None] else Usage(*counts)


def cost_of(span: TraceSpan) -> float | None:
    cost = span.number(*_COST)
    return None if cost is None or cost > MOST_USD else float(cost)


def model_of(span: TraceSpan) -> str | None:
    name = span.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
    return None if name is None else whole_text(name[:200])


def finish_reason_of(span: TraceSpan) -> str | None:
    several = span.attributes.get("gen_ai.response.finish_reasons")
    if isinstance(several, list) and several and isinstance(several[0], str):
        return several[0]
    return span.text("llm.finish_reason", "gen_ai.completion.0.finish_reason")


def tool_of(span: TraceSpan) -> str:
    return span.text("gen_ai.tool.name", "tool.name", "traceloop.entity.name") or span.name


def call_id_of(span: TraceSpan) -> str:
    return span.text("gen_ai.tool.call.id", "tool_call.id") or ""


def data_of(span: TraceSpan, names: tuple[str, ...]) -> JSON:
    """What a tool was given or gave: the value of the first attribute that is there."""
    return _data_or_text(_first_of(span, names))


def outcome_of(span: TraceSpan) -> list[MessageDict]:
    if _OUTPUT in span.attributes:
        return read_messages(span).output[-1:]
    value = _first_of(span, _OUTCOME)
    return [] if value is None else [_message("assistant", value, [])]


def asked_of(span: TraceSpan) -> list[MessageDict]:
    messages = read_messages(span).input
    value = None if messages else _first_of(span, _ASKED)
    return messages if value is None else [_message("user", value, [])]


def _first_of(span: TraceSpan, names: tuple[str, ...]) -> JSON:
    return next((span.attributes[name] for name in names if name in span.attributes), None)


def read_messages(span: TraceSpan) -> SpanMessages:
    """The messages of a span, none if it recorded none. Raise BadTraceError."""
    found = (read(span) for read in (_read_conventions, _read_numbered, _read_events))
    return next((each for each in found if each.input or each.output), SpanMessages([], []))


def _read_conventions(span: TraceSpan) -> SpanMessages:
    details = [event.attributes for event in span.events if event.name == _DETAILS]
    for held in (span.attributes, *details):
        if _INPUT in held or _OUTPUT in held:
            given: list[MessageDict] = []
            # What was given is a help and no answer: an answer isn't lost because it can't be read.
            with suppress(BadTraceError):
                system = _parse_attribute(held.get(_SYSTEM), _SYSTEM)
                if system:
                    given += _split_message({"role": "system", "parts": system}, "system")
                given += _read_list(held, _INPUT, "user")
            return SpanMessages(given, _read_list(held, _OUTPUT, "assistant"))
    return SpanMessages([], [])


def _read_list(attributes: Mapping[str, JSON], name: str, usual: str) -> list[MessageDict]:
    items = _parse_attribute(attributes.get(name), name)
    if items is None:
        return []
    if not isinstance(items, list):
        raise BadTraceError(f"`{name}` is not a list of messages")
    return [message for item in items for message in _split_message(item, usual)]


def _split_message(item: JSON, usual: str) -> list[MessageDict]:
    """The results of tools in a message are messages of their own, and come first."""
    if not isinstance(item, dict):
        raise BadTraceError("a message is an object with a `role` and `parts`")
    parts, role = item.get("parts"), _role(item.get("role"), usual)
    if not isinstance(parts, list):  # older forms have their content beside the role
        return [_message(role, item.get("content"), [])]
    by_type: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        if not isinstance(part, dict):
            raise BadTraceError("a part of a message is an object with a `type`")
        kind = part.get("type")
        kind = {"thinking": "reasoning"}.get(str(kind), kind) if isinstance(kind, str) else "other"
        by_type.setdefault(kind if kind in _PARTS else "content", []).append({**part, "type": kind})
    results = [
        {"role": "tool", "content": _data_or_text(each.get("response", each.get("result"))),
         "tool_call_id": each.get("id")}
        for each in by_type.pop("tool_call_response", ())
    ]  # fmt: skip
    if results and not by_type:
        return results
    calls = [
        _call(each.get("name"), each.get("arguments"), each.get("id"))
        for each in by_type.get("tool_call", ())
    ]
    message = _message(role, _join_parts(by_type.get("content", []), "content"), calls)
    if "reasoning" in by_type:
        thoughts = (each.get("content") for each in by_type["reasoning"])
        message["reasoning"] = "".join(str(each or "") for each in thoughts)
    return [*results, message]


def _join_parts(parts: list[dict[str, Any]], text: str = "text") -> JSON:
    """The text of parts, which they have under this key; the parts, where one is no text."""
    texts = [each.get(text) or "" if each["type"] == "text" else None for each in parts]
    if None not in texts:
        return "".join(map(str, texts)) if texts else None
    return [
        part if said is None else {"type": "text", "text": said}
        for part, said in zip(parts, texts, strict=True)
    ]


def _read_numbered(span: TraceSpan) -> SpanMessages:
    """openinference and openllmetry, whose attributes have the numbers of messages and calls."""

    def read(prefix: str, usual: str) -> list[MessageDict]:
        messages = []
        for numbered in _numbered(span.attributes, prefix):
            held = {_HOLDERS.sub("", name): value for name, value in numbered.items()}
            calls = [
                _call(call.get("name"), call.get("arguments"), call.get("id"))
                for call in _numbered(held, "tool_calls")
            ]
            content, parts = held.get("content"), _data_or_text(held.get("content"))
            if "content" not in held:
                listed = _numbered(held, "contents")
                parts = [{"type": "text" if "text" in each else "other", **each} for each in listed]
            if isinstance(parts, list) and (typed := parts_of(parts)):
                content = _join_parts(typed)
            role = _role(held.get("role"), usual)
            messages.append(_message(role, content, calls, held.get("tool_call_id")))
        return messages

    given = read("llm.input_messages", "user") or read("gen_ai.prompt", "user")
    said = read("llm.output_messages", "assistant") or read("gen_ai.completion", "assistant")
    return SpanMessages(given, said)


def _read_events(span: TraceSpan) -> SpanMessages:
    """Events of the span, log records, or pydantic-ai's list in the attribute `events`."""
    messages = SpanMessages([], [])
    listed = _parse_attribute(span.attributes.get("events"), "events")
    events = [
        SpanEvent(str(each["event.name"]), each)
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and isinstance(each.get("event.name"), str)
    ]
    for name, attributes in (*events, *span.events):
        if name in _INPUT_EVENTS:
            messages.input.append(_read_event_message(attributes, _INPUT_EVENTS[name]))
        elif name == "gen_ai.choice":
            inner = _parse_attribute(attributes.get("message"), "message")
            held = inner if isinstance(inner, dict) else attributes
            messages.output.append(_read_event_message(held, "assistant"))
    return messages


def _read_event_message(held: dict[str, Any], usual: str) -> MessageDict:
    listed, calls = _parse_attribute(held.get("tool_calls"), "tool_calls"), []
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict):
            function = each.get("function")
            inner = function if isinstance(function, dict) else each
            calls.append(_call(inner.get("name"), inner.get("arguments"), each.get("id")))
    id = held.get("id", held.get("tool_call_id"))
    role = _role(held.get("role"), usual)
    return _message(role, held.get("content"), calls, id if isinstance(id, str) else None)


def _parse_attribute(value: JSON, name: str) -> JSON:
    """A value, or the JSON text of one. Raise BadTraceError."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except BadJsonError as error:
        hint = "was it cut? OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT says where"
        raise BadTraceError(f"`{name}` is not JSON: {error} ({hint})") from None


def _data_or_text(value: JSON) -> JSON:
    """The value of a text that is JSON of an object or a list; else the value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return parse_json(value)
    except BadJsonError:
        return value


def _role(value: JSON, usual: str) -> str:
    role = OTHER_ROLES.get(value, value) if isinstance(value, str) else usual
    return role if role in ROLES else usual


def _call(name: JSON, arguments: JSON, id: JSON) -> dict[str, Any]:
    call: dict[str, Any] = {"tool": name if isinstance(name, str) else "a tool without a name"}
    given = _data_or_text(arguments)
    if given is not None:
        call["input"] = given
    if isinstance(id, str) and id:
        call["id"] = id
    return call


def _message(
    role: str, content: JSON, calls: list[dict[str, Any]], call_id: JSON = None
) -> MessageDict:
    """A message without empty fields; one that says nothing has an empty text."""
    message: MessageDict = {"role": role}
    if content is not None and not (content == "" and calls):
        message["content"] = content
    if calls:
        message["tool_calls"] = calls
    if len(message) == 1:
        message["content"] = ""
    return {**message, "tool_call_id": call_id} if role == "tool" and call_id else message


def _numbered(attributes: dict[str, JSON], prefix: str) -> list[dict[str, JSON]]:
    """`PREFIX.0.a`, `PREFIX.0.b.c`, `PREFIX.1.a` to one mapping for each number, in order."""
    found: dict[int, dict[str, JSON]] = {}
    start = f"{prefix}."
    for name, value in attributes.items():
        if name.startswith(start):
            number, has_more, rest = name[len(start) :].partition(".")
            if has_more and number.isascii() and number.isdecimal() and len(number) < 7:
                found.setdefault(int(number), {})[rest] = value
    return [found[number] for number in sorted(found)]
