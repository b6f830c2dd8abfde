"""Server-sent events, and streams of very many pieces."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from evalcase.targets.web import Event, EventReader
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


def event(**value: object) -> Event:
    return Event("", json.dumps(value).encode())
