"""Server-sent events, and streams of very many pieces."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalcase.targets.openai import CompletionsApi
from evalcase.targets.streams import Event, read_events, read_stream
from tests.for_each import for_each


def join(*chunks: bytes) -> Any:
    """What a chat API makes of a stream that comes in pieces."""

    class Reply:
        left = [*chunks]

        async def next(self) -> bytes:
            return self.left.pop(0) if self.left else b""

        async def finish(self) -> None:
            pass

    reply: Any = Reply()
    return asyncio.run(read_stream(reply, ["end"], lambda events: {"events": events}, 1000))


@for_each(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [Event("", b"a")]),
        (b"data:a\r\n\r\ndata: b\r\r", [Event("", b"a"), Event("", b"b")]),
        (b"event: x\ndata: a\ndata: b\n\n", [Event("x", b"a\nb")]),
        (b": comment\nid: 1\nretry: 5\n\ndata:  a\n\n", [Event("", b" a")]),
        (b"event: x\n\ndata: a\n\n", [Event("", b"a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event("", b"a")]),
        (b"data: a", [Event("", b"a")]),
        (b"data: a\r", [Event("", b"a")]),
        (b"data: \xff\x00\n\n", [Event("", b"\xff\x00")]),
        (b"", []),
    ],
)
def test_streams(stream: bytes, expected: list[Event]) -> None:
    assert read_events(stream) == expected


@given(
    st.lists(st.sampled_from([b"\n", b"\r", b"\r\n"]), min_size=4, max_size=4), st.integers(1, 40)
)
def test_it_does_not_matter_where_chunks_end(ends: list[bytes], at: int) -> None:
    first, second, third, fourth = ends
    stream = b'data: {"a":' + first + b"data: 1}" + second * 2 + b"event: end" + third
    stream += b"data: {}" + fourth * 2 + b"data: {}"
    found = {"events": [{"a": 1, "type": ""}, {"type": "end"}]}
    assert join(stream) == join(stream[:at], stream[at:]) == found
    assert join(*(stream[at : at + 1] for at in range(len(stream)))) == found


def test_an_answer_of_very_many_pieces_costs_no_more_for_each() -> None:
    """A quadratic way would copy 50 GB here, and look at 50 million calls."""
    deltas: list[dict[str, Any]] = [{"content": "x" * 5_000_000}, *[{"content": "y"}] * 10_000]
    for number in range(10_000):
        call = {"id": str(number), "function": {"name": "t", "arguments": "{}"}}
        deltas.append({"tool_calls": [call]})
    deltas += [{"tool_calls": [{"function": {"arguments": " "}}]}] * 10_000
    choices = [{"delta": delta} for delta in deltas] + [{"finish_reason": "stop"}]
    whole = CompletionsApi().join_events([{"choices": [each]} for each in choices])
    assert whole is not None
    message = whole["choices"][0]["message"]
    assert (len(message["content"]), len(message["tool_calls"])) == (5_010_000, 10_000)
    assert message["tool_calls"][-1]["id"] == "9999"
    assert len(message["tool_calls"][-1]["function"]["arguments"]) == 10_002
