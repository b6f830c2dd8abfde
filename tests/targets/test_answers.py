import json
import math
from base64 import b64decode
from typing import Any

import pytest

from evalcase.errors import TargetError
from evalcase.targets.answers import read_answer
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Message
from tests.for_each import for_each


def test_an_answer_object_is_itself_and_shares_nothing() -> None:
    content = {"a": [1]}
    message = Message({"role": "assistant", "content": content})
    answer = read_answer(Answer((message,), Usage(1, 1), 0.1))
    content["a"].append(2)
    assert answer.content == {"a": [1]}
    assert answer.usage == Usage(1, 1)


LOOP: list[Any] = []
LOOP.append(LOOP)


@for_each(
    ("value", "said"),
    [
        (None, "None"),
        (math.nan, "nan"),
        ({"a": math.inf}, "inf"),
        (b"bytes", "bytes is not a JSON value"),
        ({1: 2}, "keys of JSON are texts"),
        (iter("ab"), "join what it yields"),
        (LOOP, "nested more than 100 levels"),
        ([{"role": "assistant", "content": "x"}, "y"], "message 2 of the answer is a string"),
        ([{"role": "asistant", "content": "x"}], "'asistant'"),
        (
            {"role": "assistant", "tool_calls": [{"id": "f"}]},
            "a call is {tool, input}, {name, args}",
        ),
        ({"role": "assistant"}, "neither `content` nor `tool_calls`"),
        ({"key": "\ud800"}, "lone surrogate"),
    ],
)
def test_what_is_no_answer_is_an_error(value: Any, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        read_answer(value)
    assert said in str(caught.value)
    assert caught.value.kind == "protocol"
    json.dumps(caught.value.details, ensure_ascii=False).encode()


def test_lone_surrogates_in_text_are_kept_and_flagged() -> None:
    (message,) = read_answer("a\udcffb").messages
    assert message.content == "a\ufffd\ufffd\ufffdb"
    raw = b64decode(message["content_base64"]).decode(errors="surrogatepass")
    assert raw == "a\udcffb"


def test_usage_that_makes_no_sense_is_unknown_with_a_warning() -> None:
    said: list[str] = []
    value = {
        "messages": [{"role": "assistant", "content": "x"}],
        "usage": {"input": -1, "output": 2},
        "cost_usd": -4,
        "model": "m",
    }
    answer = read_answer(value, said.append)
    assert (answer.usage, answer.cost_usd) == (Usage(output_tokens=2), None)
    assert [word in " ".join(said) for word in ("`input_tokens`", "cost_usd", "model")] == [
        True
    ] * 3
