import asyncio
from typing import Any

from evalcase.types.answer import Usage
from tests.for_each import for_each
from tests.targets.openai_service import CALL, answer, failure, make
from tests.targets.questions import answer_all, ask, question
from tests.targets.server import Reply, serving

# Streams.


def delta(piece: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": piece, "finish_reason": reason}], "usage": None}


STREAM = {"params": {"stream": True}}


def test_a_stream_is_put_together() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    reply = Reply.stream(
        delta({"role": "assistant", "content": "", "refusal": None}),
        delta({"content": "He", "reasoning_content": "a"}),
        delta({"content": "llo", "reasoning_content": "b"}),
        delta({}, "stop"),
        {"choices": [], "usage": usage},
        done=True,
    )
    with serving(reply) as server:
        got = ask(make(server, **STREAM))
    assert server.request.json["stream_options"] == {"include_usage": True}
    assert got.usage == Usage(3, 2)
    assert got.messages == (
        {
            "role": "assistant", "content": "Hello", "reasoning_content": "ab",
            "finish_reason": "stop",
        },
    )  # fmt: skip


def test_calls_of_a_stream_are_put_together_by_their_index() -> None:
    def piece(index: int, **fields: Any) -> dict[str, Any]:
        return delta({"tool_calls": [{"index": index, **fields}]})

    got = answer(
        Reply.stream(
            delta({"role": "assistant", "content": None}),
            piece(0, id="c1", type="function", function={"name": "add", "arguments": ""}),
            piece(1, id="c2", type="function", function={"name": "sub", "arguments": "{}"}),
            piece(0, function={"arguments": '{"a"'}),
            piece(0, function={"arguments": ": 1}"}),
            delta({}, "tool_calls"),
            done=True,
        ),
        **STREAM,
    )
    sub = {"id": "c2", "type": "function", "function": {"name": "sub", "arguments": "{}"}}
    assert got.messages == (
        {"role": "assistant", "tool_calls": [CALL, sub], "finish_reason": "tool_calls"},
    )


def test_a_stream_that_ends_too_early_is_an_error_with_what_came() -> None:
    error = failure(Reply.stream(delta({"content": "Hel"}), delta({"content": "lo"})), **STREAM)
    assert "it ended before the answer was complete" in str(error)
    assert (error.kind, error.may_succeed_later) == ("protocol", True)
    assert "Hel" in error.details["body"]
    assert error.details["body"].startswith('data: {"choices"')


def test_an_error_in_a_stream_is_an_error() -> None:
    body = {"error": {"message": "The server had an error.", "type": "server_error"}}
    error = failure(Reply.stream(delta({"content": "x"}), body, done=True), **STREAM)
    assert "answered with an error: The server had an error." in str(error)
    assert (error.kind, error.may_succeed_later) == ("protocol", True)


@for_each("body", [b"data: {\n\n", b'data: "x"\n\n', b'data: {"a": "\xff"}\n\n'])
def test_events_that_make_no_sense_are_a_protocol_error(body: bytes) -> None:
    error = failure(Reply(body, 200, {"Content-Type": "text/event-stream"}), **STREAM)
    assert "the stream of the answer can't be read" in str(error)
    assert error.details["body"] == body.decode(errors="backslashreplace")


def test_a_stream_that_is_too_large_is_an_error() -> None:
    reply = Reply.stream(*[delta({"content": "x" * 100})] * 50, done=True)
    error = failure(reply, max_output_bytes=1000, **STREAM)
    assert "larger than `max_output_bytes`" in str(error)
    assert error.kind == "protocol"


def test_connections_are_used_again_after_a_stream() -> None:
    reply = Reply.stream(delta({"content": "x"}, "stop"), done=True)
    with serving(reply) as server:
        asyncio.run(answer_all(make(server, **STREAM), [question()] * 3))
    assert (len(server.requests), server.connections) == (3, 1)
