from __future__ import annotations

import json
from typing import NoReturn

from evalcase.targets.anthropic import MessagesStream
from evalcase.targets.chat import Pieces
from evalcase.targets.openai import CompletionsStream
from evalcase.targets.web import Event
from tests.for_each import for_each


class Unjoined(str):
    """A text that is never put to another one alone: that would copy the other each time."""

    __slots__ = ()

    def __add__(self, _: str) -> NoReturn:
        raise AssertionError("joined before all was there")

    __radd__ = __add__


def test_texts_grow_and_are_joined_once() -> None:
    pieces = Pieces()
    for text in ("a", "b", "c"):
        pieces.add({"content": Unjoined(text)})
    assert pieces.joined() == {"content": "abc"}
    assert pieces.find("content") == "abc"


@for_each(
    ("given", "joined"),
    [
        ([{"a": 1}, {"a": 2}], {"a": 2}),
        ([{"a": "x"}, {"a": 2}], {"a": 2}),
        ([{"a": 1}, {"a": "x"}, {"a": "y"}], {"a": "xy"}),
        ([{"id": "x"}, {"id": "y"}], {"id": "y"}),
        ([{"b": ""}, {"a": "1"}, {"b": "2"}], {"b": "2", "a": "1"}),
        ([{"a": [1]}, {"a": [2]}], {"a": [2]}),
        ([], {}),
    ],
)
def test_of_anything_else_the_last_counts(
    given: list[dict[str, object]], joined: dict[str, object]
) -> None:
    pieces = Pieces(frozenset({"id"}))
    for each in given:
        pieces.add(each)  # type: ignore[arg-type]
    assert pieces.joined() == joined
    assert list(pieces.joined()) == list(joined)
    assert pieces.find("nothing") is None


def event(**value: object) -> Event:
    return Event("", json.dumps(value).encode())


def test_an_answer_of_very_many_pieces_costs_no_more_for_each() -> None:
    """A quadratic way would copy 50 GB here, and look at 50 million calls."""
    stream = CompletionsStream()
    stream.take(event(choices=[{"delta": {"content": "x" * 5_000_000}}]))
    piece = event(choices=[{"delta": {"content": "y"}}])
    for _ in range(10_000):
        stream.take(piece)
    for number in range(10_000):
        call = {"id": str(number), "function": {"name": "t", "arguments": "{}"}}
        stream.take(event(choices=[{"delta": {"tool_calls": [call]}}]))
    stream.take(event(choices=[{"delta": {}, "finish_reason": "stop"}]))
    whole = stream.whole()
    assert whole is not None
    message = whole["choices"][0]["message"]
    assert (len(message["content"]), len(message["tool_calls"])) == (5_010_000, 10_000)
    assert message["tool_calls"][-1]["id"] == "9999"


def test_so_does_one_with_very_many_citations() -> None:
    stream = MessagesStream()
    start = {"type": "text", "text": "", "citations": [{"n": -1}]}
    stream.take(event(type="content_block_start", index=0, content_block=start))
    for number in range(5_000):
        delta = {"type": "citations_delta", "citation": {"n": number}}
        stream.take(event(type="content_block_delta", index=0, delta=delta))
    stream.take(event(type="content_block_stop", index=0))
    stream.take(event(type="message_stop"))
    whole = stream.whole()
    assert whole is not None
    assert [each["n"] for each in whole["content"][0]["citations"]] == [*range(-1, 5_000)]
