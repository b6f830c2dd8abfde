from __future__ import annotations

from typing import Any

from evalcase.types.answer import Usage
from tests.targets.openai_service import CALL, answer, failure, make
from tests.targets.questions import ask
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
    assert error.details["output"] == "Hello"
    assert error.details["body"].startswith('data: {"choices"')


def test_an_error_in_a_stream_is_an_error() -> None:
    body = {"error": {"message": "The server had an error.", "type": "server_error"}}
    error = failure(Reply.stream(delta({"content": "x"}), body, done=True), **STREAM)
    assert "answered with an error: The server had an error." in str(error)
    assert (error.kind, error.may_succeed_later) == ("protocol", True)
