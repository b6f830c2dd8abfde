"""Server-sent events, and streams of very many pieces."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalcase.targets.openai import CompletionsApi
from evalcase.targets.streams import Event, EventReader
from tests.for_each import for_each


def events(*chunks: bytes) -> list[Event]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()


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
    assert events(stream) == expected
    assert events(*(stream[at : at + 1] for at in range(len(stream)))) == expected


@given(st.binary(max_size=60).map(lambda data: b"data: " + data), st.integers(0, 66))
def test_it_does_not_matter_where_chunks_end(stream: bytes, at: int) -> None:
    assert events(stream[:at], stream[at:]) == events(stream)


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
