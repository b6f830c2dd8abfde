import json
from base64 import b64decode
from typing import Any

import pytest

from evalcase.errors import TargetError
from evalcase.targets.answers import How, read_output
from evalcase.types.answer import Answer, Usage
from evalcase.util.processes import Output
from tests.for_each import for_each
from tests.targets.questions import ignore


def read(data: bytes | str | Any, how: How = "auto", truncated: bool = False) -> Answer:
    if not isinstance(data, bytes):
        data = (data if isinstance(data, str) else json.dumps(data)).encode()
    return read_output(Output(data, truncated), how, ignore)


@for_each(
    ("written", "text"),
    [("4\n", "4"), ("4\r\n", "4"), ("4\n\n", "4\n"), ("", ""), ("\n", ""), (" 4 ", " 4 ")],
)
def test_one_line_end_is_not_part_of_a_text(written: str, text: str) -> None:
    assert read(written).content == text


@for_each(
    "written",
    [
        '{"riskLevel": "High"}',
        '{"text": "hi", "language": "en"}',
        '{"text": 3}',
        '["a", "b"]',
        '"quoted"',
        "42",
        "{}",
        '{"messages": ["a"]}',
        '{"usage": {"input": 1}}',
        'log line\n{"text": "hi"}',
        '{"text": "hi"} trailing',
        '{"text": "hi", "text": "ho"}',
        '{"text": NaN}',
        "[" * 100_000,
    ],
)
def test_auto_leaves_as_text_what_has_none_of_the_shapes(written: str) -> None:
    assert read(written).content == written


@for_each("name", ["messages", "output_messages", "output"])
def test_auto_reads_messages_with_usage_and_cost(name: str) -> None:
    messages = [
        {"role": "assistant", "tool_calls": [{"tool": "t", "input": {"a": 1}}]},
        {"role": "assistant", "content": "done"},
    ]
    answer = read(
        {name: messages, "token_usage": {"input": 1, "output": 2, "cached": 3},
         "cost_usd": 1, "duration_ms": 5}
    )  # fmt: skip
    assert list(answer.messages) == messages
    assert (answer.usage, answer.cost_usd) == (Usage(1, 2, 3), 1.0)


def test_json_is_data_where_it_was_asked_for() -> None:
    assert read({"riskLevel": "High"}, "json").content == {"riskLevel": "High"}
    assert read('"hi"', "json").content == "hi"


@for_each("written", ["oops", 'log\n{"a": 1}', "", '{"a": 1, "a": 2}', b"\xff"])
def test_json_that_is_none_is_an_error_with_what_was_written(written: bytes | str) -> None:
    with pytest.raises(TargetError, match="not JSON") as caught:
        read(written, "json")
    assert caught.value.kind == "protocol"
    assert "output" in caught.value.details


def test_invalid_utf8_is_kept_and_flagged() -> None:
    (message,) = read(b"caf\xe9 \x00\x1b[31m\n").messages
    assert message.content == "caf\ufffd \x00\x1b[31m"
    assert b64decode(message["content_base64"]) == b"caf\xe9 \x00\x1b[31m"


def test_a_text_that_was_cut_is_marked() -> None:
    answer = read("ab", truncated=True)
    assert (answer.content, answer.truncated) == ("ab", True)
    cut = read("😀".encode()[:3], truncated=True)
    assert b64decode(cut.messages[0]["content_base64"]) == "😀".encode()[:3]


def test_agentv_prefers_messages_then_text_then_the_whole() -> None:
    message = {"role": "assistant", "content": "m"}
    both = {"output_messages": [message], "text": "t", "cost_usd": 0.5, "model": "x"}
    assert (read(both, "agentv").content, read(both, "agentv").cost_usd) == ("m", 0.5)
    assert read({"text": "t", "model": "x"}, "agentv").content == "t"
    for odd in ('{"a": 1}', "[1]", "plain"):
        assert read(odd, "agentv").content == odd
