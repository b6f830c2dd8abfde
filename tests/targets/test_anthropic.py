import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import TargetError
from evalcase.targets.anthropic import AnthropicTarget
from evalcase.types.answer import Answer, Usage
from evalcase.types.target import Question
from tests.for_each import for_each
from tests.targets.questions import ask, question, target_of
from tests.targets.server import Reply, Server, serving

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def reply(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    content = list(blocks or [text("4")])
    return {"type": "message", "content": content, "stop_reason": "end_turn", **fields}


def make(server: Server, **options: Any) -> AnthropicTarget:
    return target_of(AnthropicTarget, **{"model": "some-model", "base_url": server.url, **options})


def sent(given: Question, **options: Any) -> Any:
    """The body of the request that a trial becomes."""
    with serving(reply()) as server:
        ask(make(server, **options), given)
    return server.request.json


def body(*input: dict[str, Any], **options: Any) -> Any:
    return sent(question(list(input)), **options)


def answer(given: Any, **options: Any) -> Answer:
    with serving(given) as server:
        return ask(make(server, **options))


def failure(given: Any, **options: Any) -> TargetError:
    with pytest.raises(TargetError) as caught:
        answer(given, **options)
    return caught.value


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


# What is sent.


def test_a_request_has_the_model_a_bound_and_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    with serving(reply()) as server:
        assert ask(make(server, key_env="MY_KEY")).text == "4"
    assert server.request.path == "/v1/messages"
    assert server.request.headers["anthropic-version"] == "2023-06-01"
    assert server.request.headers["x-api-key"] == "k"
    assert "authorization" not in server.request.headers
    assert server.request.json == {
        "model": "some-model", "max_tokens": 4096, "messages": [user("Hi")],
    }  # fmt: skip


def test_a_schema_of_the_question_is_sent_beside_other_output_config() -> None:
    schema = {"type": "object"}
    wanted = {"type": "json_schema", "schema": schema}
    given = question(schema=schema)
    assert sent(given)["output_config"] == {"format": wanted}
    params = {"output_config": {"effort": "low", "format": {"type": "text"}}}
    assert sent(given, params=params)["output_config"] == {"effort": "low", "format": wanted}
    assert "output_config" not in sent(question())


def test_system_messages_at_the_beginning_are_the_system() -> None:
    one = body({"role": "system", "content": "Be brief."}, user("Hi"))
    assert (one["system"], one["messages"]) == ("Be brief.", [user("Hi")])
    cached = {**text("b"), "cache_control": {"type": "ephemeral"}}
    two = body(
        {"role": "system", "content": "a"}, {"role": "developer", "content": [cached]}, user("Hi")
    )
    assert two["system"] == [text("a"), cached]


def test_a_later_system_message_is_sent_in_its_place_with_a_warning() -> None:
    said: list[str] = []
    given = body(user("Hi"), {"role": "system", "content": "Stop."}, warn=said.append)
    assert given["messages"] == [
        user([text("Hi"), text("<system>"), text("Stop."), text("</system>")])
    ]
    assert "system" not in given
    assert len(said) == 1
    assert "a system message that is not at the beginning is sent as a text of the user" in said[0]


def test_both_spellings_of_calls_and_their_results() -> None:
    openai = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    calls = [{"tool": "sub", "input": {"b": 2}}, openai, {"tool": "now", "output": {"t": 1}}]
    turns = body(
        user("Hi"),
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": {"sum": 2}, "is_error": True},
        {"role": "tool", "content": "3"},
        user("And?"),
    )["messages"]
    assert turns[1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "call_1", "name": "sub", "input": {"b": 2}},
                {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}},
                {"type": "tool_use", "id": "call_2", "name": "now", "input": {}},
            ],
        },
        user([
            {
                "type": "tool_result", "tool_use_id": "c1", "content": '{"sum": 2}',
                "is_error": True,
            },
            {"type": "tool_result", "tool_use_id": "call_1", "content": "3"},
            {"type": "tool_result", "tool_use_id": "call_2", "content": '{"t": 1}'},
            text("And?"),
        ]),
    ]  # fmt: skip


def test_a_call_whose_input_is_no_mapping_cannot_be_sent() -> None:
    with pytest.raises(TargetError, match="a call of `f` can't be sent: its input is a string"):
        body({"role": "assistant", "tool_calls": [{"tool": "f", "input": "x"}]})


def test_blocks_of_an_earlier_answer_go_back_and_other_keys_are_warned_of() -> None:
    said: list[str] = []
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    given = {"role": "assistant", "content": "4", "blocks": [thinking], "stop_reason": "end_turn"}
    given["mood"] = "good"
    turns = body(user("Hi"), given, warn=said.append)["messages"]
    assert turns[1] == {"role": "assistant", "content": [thinking, text("4")]}
    assert said == ["`mood` of a message is not sent: Anthropic's API doesn't know it"]


def test_files_and_images_are_sent_as_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Grüße")
    (tmp_path / "b.png").write_bytes(PNG)
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7\xff")
    png, pdf = b64encode(PNG).decode(), b64encode(b"%PDF-1.7\xff").decode()
    url = {"type": "url", "url": "https://example.com/a.png"}
    said: list[str] = []
    parts = [
        {"type": "file", "path": "a.txt"},
        {"type": "file", "path": "b.png"},
        {"type": "file", "path": "c.pdf"},
        {"type": "image", "url": url["url"], "detail": "low"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}},
        {"type": "image", "source": url},
        {"type": "search_result", "x": 1},
    ]
    given = question([user(parts)], suite=str(tmp_path / "s.yaml"))
    got = sent(given, root=str(tmp_path), warn=said.append)["messages"][0]["content"]
    image = {"type": "base64", "media_type": "image/png", "data": png}
    assert got == [
        text('<file name="a.txt">\nGrüße\n</file>'),
        {"type": "image", "source": image},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": pdf},
            "title": "c.pdf",
        },
        {"type": "image", "source": url},
        {"type": "image", "source": image},
        {"type": "image", "source": url},
        {"type": "search_result", "x": 1},
    ]
    assert said == ["`detail` of an image is not sent: Anthropic's API doesn't know it"]


# What comes back.


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "it has no `content`"),
        ({"content": "x"}, "it has no `content`"),
        ({"content": []}, "its `content` is empty"),
        ({"content": [{"type": "text", "text": None}]}, "a block of text has none"),
        ({"content": [{"type": "tool_use"}]}, "a call that doesn't name its tool"),
        ({"type": "error", "error": {"message": "No credit."}}, "with an error: No credit."),
    ],
)
def test_without_an_answer_it_is_a_protocol_error(value: Any, said: str) -> None:
    error = failure(value)
    assert said in str(error)
    assert (error.kind, error.may_succeed_later) == ("protocol", False)
    assert error.details["body"] == json.dumps(value)


# Streams.

STREAM = {"params": {"stream": True}}
START = {
    "type": "message_start",
    "message": {
        "type": "message", "role": "assistant", "content": [], "stop_reason": None,
        "usage": {"input_tokens": 7, "cache_read_input_tokens": 2, "output_tokens": 1},
    },
}  # fmt: skip
STOP = {"type": "message_stop"}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str) -> dict[str, Any]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 15}}


def test_a_stream_is_put_together() -> None:
    events: list[dict[str, Any]] = [
        START,
        {"type": "ping"},
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "H"},
            {"type": "thinking_delta", "thinking": "m."},
            {"type": "signature_delta", "signature": "s"},
        ),
        *block(
            1, text(""), {"type": "text_delta", "text": "It "}, {"type": "text_delta", "text": "is"}
        ),
        *block(
            2,
            {"type": "tool_use", "id": "t1", "name": "add", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"a"'},
            {"type": "input_json_delta", "partial_json": ": 1}"},
        ),
        *block(3, {"type": "tool_use", "id": "t2", "name": "now", "input": {}}),
        {"type": "some_new_event", "x": 1},
        end("tool_use"),
        STOP,
    ]
    got = answer(Reply.events(*events), **STREAM)
    assert got.usage == Usage(9, 15, 2)
    assert got.messages == (
        {
            "role": "assistant",
            "content": "It is",
            "tool_calls": [
                {"tool": "add", "input": {"a": 1}, "id": "t1"},
                {"tool": "now", "input": {}, "id": "t2"},
            ],
            "blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
            "stop_reason": "tool_use",
        },
    )


def test_a_stream_without_its_last_event_is_an_error_with_what_came() -> None:
    pieces = block(0, text(""), {"type": "text_delta", "text": "Hello"})
    error = failure(Reply.events(START, *pieces, end("end_turn")), **STREAM)
    assert "it ended before the answer was complete" in str(error)
    assert (error.kind, error.may_succeed_later) == ("protocol", True)


@for_each(
    "events",
    [
        [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}],
        [{"type": "content_block_start", "content_block": {}}],
        block(0, {"type": "tool_use"}, {"type": "input_json_delta", "partial_json": '{"a'}),
    ],
)
def test_events_that_make_no_sense_are_a_protocol_error(events: list[dict[str, Any]]) -> None:
    error = failure(Reply.events(START, *events, STOP), **STREAM)
    assert "the stream of the answer can't be read" in str(error)
    assert error.kind == "protocol"


# Keys and options.
