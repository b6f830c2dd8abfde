"""What a trace tells, in the ways in which instrumentations write it down."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from evalcase.tracing.context import TraceLabels
from evalcase.tracing.otlp import TraceStore, read_pieces, read_trace_file
from evalcase.tracing.trace import Transcript, read_transcript
from evalcase.types.answer import Usage
from tests.for_each import for_each
from tests.tracing.otlp import chat, export, span

RECORDED = Path(__file__).parent / "recorded"
FILES = sorted(each.name for each in RECORDED.glob("*.jsonl"))
TOKENS = {
    "pydantic-ai": Usage(115, 15),
    "openinference": Usage(40, 10),
    "openllmetry": Usage(40, 10),
}


def tell(*spans: dict[str, Any], logs: list[dict[str, Any]] | None = None) -> Transcript:
    told = export(*spans)
    if logs is not None:
        told["resourceLogs"] = [{"scopeLogs": [{"logRecords": logs}]}]
    with closing(TraceStore()) as store:
        store.fill(read_pieces(told))
        (trace,) = store
        return read_transcript(store.read(trace))


def read_recorded(name: str) -> dict[str, Transcript]:
    labels = TraceLabels()
    with closing(TraceStore()) as store, (RECORDED / name).open("rb") as file:
        store.fill(labels.note(read_trace_file(file)))
        return {each.label.case: read_transcript(store.read(each.id)) for each in labels}


@for_each("name", FILES)
def test_recorded_traces_of_others_are_told_alike(name: str) -> None:
    told = read_recorded(name)
    assert list(told) == ["bergen", "nowhere", "greeting"]
    bergen = told["bergen"]
    call, reply = bergen.messages
    (made,) = call["tool_calls"]
    assert (made["tool"], made["input"], made["output"]) == (
        "look_up", {"city": "Bergen"}, "rain, 9 degrees",
    )  # fmt: skip
    assert (reply["role"], reply["content"]) == ("assistant", "It rains in Bergen.")
    assert reply.get("finish_reason") == (None if "pydantic" in name else "stop")
    assert [(each["role"], each["content"]) for each in bergen.asked] == [
        ("system", "You know the weather."), ("user", "What is the weather in Bergen?"),
    ]  # fmt: skip
    assert bergen.usage == next(each for key, each in TOKENS.items() if name.startswith(key))
    assert bergen.error is None
    assert bergen.duration_s is not None
    (greeting,) = told["greeting"].messages
    assert greeting["content"] == "Hello! Ask me about the weather."


@for_each("name", [each for each in FILES if "openllmetry" not in each])
def test_a_tool_that_failed_says_so_where_it_has_a_span(name: str) -> None:
    (made,) = read_recorded(name)["nowhere"].messages[0]["tool_calls"]
    assert made["is_error"] is True
    assert "no such city: Nowhere" in made["output"]


def test_no_recording_has_anything_of_the_machine_that_made_it() -> None:
    for name in FILES:
        text = (RECORDED / name).read_text()
        assert not [
            each for each in ("127.0.0.1", "/home", "/root", "/usr", "/tmp") if each in text
        ]


ASKED = {"role": "user", "content": "Hi"}
CALLED = {"role": "assistant", "tool_calls": [{"tool": "t", "input": {"a": 1}, "id": "x"}]}
CALL = {"id": "x", "type": "function", "function": {"name": "t", "arguments": '{"a": 1}'}}
PARTS = [{"type": "tool_call", "id": "x", "name": "t", "arguments": {"a": 1}}]
STRUCTURED = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
OUTPUT = [{"role": "assistant", "parts": PARTS, "finish_reason": "tool_call"}]
MODEL = {"gen_ai.operation.name": "chat"}
CONVENTIONS = {"gen_ai.input.messages": STRUCTURED, "gen_ai.output.messages": OUTPUT}
SHAPES: dict[str, dict[str, Any]] = {
    "JSON text": {name: json.dumps(value) for name, value in CONVENTIONS.items()},
    "values": CONVENTIONS,
    "openinference": {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "Hi",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "x",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "t",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
    },
    "openllmetry": {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": '[{"type": "text", "text": "Hi"}]',
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.name": "t",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
        "gen_ai.completion.0.tool_calls.0.id": "x",
    },
    "a list of events": {
        "events": json.dumps(
            [
                {"event.name": "gen_ai.user.message", "role": "user", "content": "Hi"},
                {"event.name": "gen_ai.choice", "message": {"tool_calls": [CALL]}},
            ]
        )
    },
}


@for_each("shape", SHAPES)
def test_messages_of_every_shape_are_the_same(shape: str) -> None:
    told = tell(span({**MODEL, **SHAPES[shape]}))
    assert (told.asked, told.messages) == ([ASKED], [CALLED])


def test_a_call_that_two_instrumentations_tell_of_is_one() -> None:
    outer = chat("4", id="0a")
    told = tell(outer, chat("4", parent="0a"))
    assert (len(told.messages), told.usage) == (1, Usage(10, 2))


TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}


def test_calls_without_ids_are_told_apart_by_their_arguments() -> None:
    calls = [{"type": "tool_call", "name": "t", "arguments": {"a": each}} for each in (1, 2, 1)]
    output = json.dumps([{"role": "assistant", "parts": calls}])
    tools = [
        span({"openinference.span.kind": "TOOL", "tool.name": "t", "output.value": result,
              "input.value": f'{{"a": {given}}}'}, start=start)
        for start, (given, result) in enumerate([(2, "x"), (1, "y"), (1, "z"), (3, "w")], 2)
    ]  # fmt: skip
    told = tell(span({**MODEL, "gen_ai.output.messages": output}), *tools)
    made = [call for message in told.messages for call in message["tool_calls"]]
    assert [(each["input"]["a"], each["output"]) for each in made] == [
        (1, "y"), (2, "x"), (1, "z"), (3, "w"),
    ]  # fmt: skip


@for_each("name", ["final_result", "output.value", "traceloop.entity.output"])
def test_an_agent_has_the_last_word_where_no_model_has(name: str) -> None:
    agent = span({"gen_ai.operation.name": "invoke_agent", name: '{"city": "Oslo"}'}, id="0a")
    asks = span({**MODEL, "gen_ai.output.messages": json.dumps(OUTPUT)}, parent="0a", start=1)
    assert tell(agent, asks).messages == [
        CALLED,
        {"role": "assistant", "content": '{"city": "Oslo"}'},
    ]


def test_a_conversation_is_asked_with_what_was_said_before() -> None:
    parts = [{"role": role, "parts": [{"type": "text", "content": text}]}
             for role, text in [("user", "a"), ("assistant", "b"), ("user", "c")]]  # fmt: skip
    done = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "x", "response": 1}]}
    given = {"gen_ai.input.messages": json.dumps([*parts, *OUTPUT, done])}
    told = tell(chat("b"), chat("d", start=5, attributes=given))
    assert [each["content"] for each in told.asked] == ["a", "b", "c"]
