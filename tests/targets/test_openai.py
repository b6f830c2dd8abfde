import asyncio
import json
import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.chat import split_model
from evalcase.targets.openai import OpenAITarget
from evalcase.types.answer import Answer
from evalcase.types.target import Question
from tests.for_each import for_each
from tests.targets.openai_service import (
    CALL,
    PNG,
    answer,
    completion,
    failure,
    make,
    messages,
    sent,
    user,
)
from tests.targets.questions import answer_all, ask, carries_address, of_value, question, target_of
from tests.targets.server import Reply, serving

# What is sent.


def test_a_request_has_the_model_the_messages_and_the_parameters() -> None:
    params = {"temperature": 0, "tools": [{"type": "function", "function": {"name": "f"}}]}
    with serving(completion()) as server:
        assert ask(make(server, params=params)).text == "4"
    assert server.request.path == "/v1/chat/completions"
    assert server.request.json == {
        "model": "some-model", "messages": [{"role": "user", "content": "Hi"}], **params,
    }  # fmt: skip


def test_text_is_sent_as_it_is_and_data_as_json() -> None:
    given: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "é"},
        {"role": "user", "content": {"é": [1, None]}},
        {"role": "assistant", "content": [1, 2]},
        {"role": "user", "content": 5},
    ]
    contents = ["Be brief.", "é", '{"é": [1, null]}', "[1, 2]", "5"]
    assert messages(*given) == [
        {"role": message["role"], "content": content}
        for message, content in zip(given, contents, strict=True)
    ]


def test_both_spellings_of_calls_and_their_results() -> None:
    turns = messages(
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [{"tool": "sub", "input": {"b": 2}}, CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": {"sum": 2}},
        {"role": "tool", "content": "3"},
    )
    sub = {"name": "sub", "arguments": '{"b": 2}'}
    first = {"id": "call_1", "type": "function", "function": sub}
    assert turns[1:] == [
        {"role": "assistant", "content": None, "tool_calls": [first, CALL]},
        {"role": "tool", "content": '{"sum": 2}', "tool_call_id": "c1"},
        {"role": "tool", "content": "3", "tool_call_id": "call_1"},
    ]


def test_the_output_of_a_call_is_a_tool_message_unless_one_follows() -> None:
    calls = [
        {"tool": "f", "id": "a", "output": 1},
        {"tool": "g", "id": "b", "output": 2},
        {"tool": "h", "id": "c"},
    ]
    turns = messages(
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "content": "not for f"},
        {"role": "tool", "name": "g", "content": "other"},
        {"role": "user", "content": "And?"},
    )
    results = [(turn["tool_call_id"], turn["content"]) for turn in turns[1:4]]
    assert results == [("c", "not for f"), ("b", "other"), ("a", "1")]
    assert turns[4]["role"] == "user"


def test_a_result_without_a_call_is_an_error() -> None:
    with pytest.raises(TargetError, match="message 2 is the result of a tool without a call"):
        messages({"role": "user", "content": "Hi"}, {"role": "tool", "content": "3"})


def test_extra_keys_that_the_api_knows_are_sent_and_others_warned_of() -> None:
    said: list[str] = []
    given = {"role": "user", "content": "Hi", "name": "Ann", "mood": "good"}
    call = {"tool": "f", "why": "x"}
    turns = messages(given, {"role": "assistant", "tool_calls": [call]}, warn=said.append)
    assert turns[0] == {"role": "user", "content": "Hi", "name": "Ann"}
    assert said == [
        "`why` of a tool call is not sent: no API knows it",
        "`mood` of a message is not sent: OpenAI's API doesn't know it",
    ]


SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}}


def test_a_schema_of_the_question_is_sent_and_wins_over_the_parameters() -> None:
    wanted = {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    given = question(schema=SCHEMA)
    assert sent(given)["response_format"] == wanted
    params = {"response_format": {"type": "text"}, "temperature": 0}
    body = sent(given, params=params)
    assert (body["response_format"], body["temperature"]) == (wanted, 0)
    assert sent(question(), params=params)["response_format"] == {"type": "text"}
    assert "response_format" not in sent(question())


def refusal(what: str, status: int = 400) -> Reply:
    said = {"error": {"message": f"Unsupported: {what}", "type": "invalid_request_error"}}
    return Reply(json.dumps(said).encode(), status)


def test_a_service_that_knows_no_schemas_is_asked_for_json_and_then_by_words() -> None:
    replies = refusal("response_format.json_schema"), refusal("response_format"), completion()
    with serving(*replies, completion()) as server:
        target = make(server)
        given = question(schema=SCHEMA)
        answers = asyncio.run(answer_all(target, [given, given]))
    kinds = [(each.json.get("response_format") or {}).get("type") for each in server.requests]
    assert kinds == ["json_schema", "json_object", None, None]
    assert [each.asked_as for each in answers if isinstance(each, Answer)] == ["prompt"] * 2


# Files.


def with_files(tmp_path: Path, *parts: Any) -> Question:
    (tmp_path / "suites").mkdir(exist_ok=True)
    return question([user(*parts)], suite=str(tmp_path / "suites" / "s.yaml"))


def test_files_are_sent_as_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Grüße")
    (tmp_path / "b.png").write_bytes(PNG)
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7\xff")
    parts = [
        {"type": "text", "text": "Read."}, {"type": "file", "path": "a.txt"},
        {"type": "file", "value": "b.png"}, {"type": "file", "path": "c.pdf"},
    ]  # fmt: skip
    body = sent(with_files(tmp_path, *parts), root=str(tmp_path))
    png, pdf = b64encode(PNG).decode(), b64encode(b"%PDF-1.7\xff").decode()
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "Read."},
        {"type": "text", "text": '<file name="a.txt">\nGrüße\n</file>'},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}},
        {
            "type": "file",
            "file": {"filename": "c.pdf", "file_data": f"data:application/pdf;base64,{pdf}"},
        },
    ]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "file", "path": "x.bin"}, "`x.bin` can't be sent to a model: it is not text"),
        ({"type": "file", "path": "none.txt"}, "`none.txt` can't be read: No such file"),
        ({"type": "file", "path": "pipe"}, "`pipe` can't be read: it is not a regular file"),
        ({"type": "file", "path": "big.txt"}, "it is larger than 20,000,000 bytes"),
        ({"type": "image", "path": "a.txt"}, "`a.txt` is not a PNG, JPEG, GIF or WebP image"),
        ({"type": "image", "path": "../out.png"}, "can't be read: it lies outside the project"),
        ({"type": "image", "path": "link.png"}, "it lies outside the project"),
        ({"type": "image", "data": "§"}, "`data` of an image is not base64"),
        ({"type": "image", "data": "AAAA"}, "`data` without a `media_type`"),
    ],
)
def test_what_cannot_be_sent_says_so(tmp_path: Path, part: Any, said: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "x.bin").write_bytes(b"\x00\xff")
    (project / "a.txt").write_text("x")
    (tmp_path / "out.png").write_bytes(PNG)
    (project / "link.png").symlink_to(tmp_path / "out.png")
    os.mkfifo(project / "pipe")
    with (project / "big.txt").open("wb") as file:
        file.truncate(20_000_001)
    with serving(completion()) as server, pytest.raises(TargetError) as caught:
        ask(make(server, root=str(project)), with_files(project, part))
    assert said in str(caught.value)
    assert not caught.value.may_succeed_later
    assert server.requests == []


# What comes back.


@for_each(
    ("value", "said"),
    [
        ({}, "it has no `choices`"),
        ({"choices": []}, "it has no `choices`"),
        ({"choices": [{"message": None}]}, "its first choice has no `message`"),
        ({"choices": [{"message": {}}]}, "its message is empty"),
        ({"choices": [{"message": {"role": "boss", "content": "x"}}]}, "has the role 'boss'"),
        ({"error": {"message": "No credit."}}, "answered with an error: No credit."),
        ({"error": "down", "choices": None}, "answered with an error: down"),
        ([1], "it is not an object"),
    ],
)
def test_without_an_answer_it_is_a_protocol_error(value: Any, said: str) -> None:
    error = failure(value)
    assert said in str(error)
    assert (error.kind, error.may_succeed_later) == ("protocol", False)
    assert error.details["body"] == json.dumps(value)


def test_an_answer_that_is_too_large_is_a_protocol_error() -> None:
    error = failure(completion({"role": "assistant", "content": "x" * 999}), max_output_bytes=99)
    assert "larger than `max_output_bytes`" in str(error)


# Keys, options and prices.


def test_the_default_key_is_for_the_default_host_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    with serving(completion()) as server:
        target = make(server)
        ask(target)
    assert "authorization" not in server.request.headers
    assert target.traits.key_names == ()
    assert target_of(OpenAITarget, model="m").traits.key_names == ("OPENAI_API_KEY",)
    assert target_of(
        OpenAITarget, model="m", base_url="https://api.openai.com/v1/"
    ).traits.key_names == ("OPENAI_API_KEY",)


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
@pytest.mark.parametrize("value", ["https://gw.example/v1?token=hunter2", "gw.example/v1"])
def test_a_variable_that_names_another_host_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-4711")
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        asyncio.run(target_of(OpenAITarget, model="m", key_env="OPENAI_API_KEY").open())
    meant = "https://gw.example/v1"
    assert f"the environment variable {name} is {meant}, and evalcase would ask" in str(
        caught.value
    )
    assert f"openai:m@{meant}" in str(caught.value)
    assert 'base_url = "https://api.openai.com/v1"' in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("value", ["", "https://api.openai.com/v1/", "https://API.openai.com"])
def test_a_variable_that_names_no_other_host_is_fine(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", value)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    # It comes as far as to the key.
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        asyncio.run(target_of(OpenAITarget, model="m").open())


@for_each(
    ("value", "model", "address"),
    [
        ("gpt-4o-mini", "gpt-4o-mini", False),
        ("org/model:7b", "org/model:7b", False),
        ("org/model:7b@v2@{url}", "org/model:7b@v2", True),
        ("m@{url}", "m", True),
        ("m@http://x@{url}", "m@http://x", True),
    ],
)
def test_a_model_may_name_its_address(value: str, model: str, address: bool) -> None:
    assert carries_address(OpenAITarget, value.format(url="http://host/v1")) is address
    if address:
        with serving(completion()) as server:
            ask(of_value(OpenAITarget, value.format(url=server.url)))
        assert server.request.json["model"] == model
    else:
        assert of_value(OpenAITarget, value).traits.key_names == ("OPENAI_API_KEY",)


@for_each(
    ("options", "said"),
    [
        ({}, 'needs `model`: for example model = "some-model"'),
        ({"model": "m", "params": {"messages": []}}, "can't hold `messages`"),
        ({"model": "m", "params": {"n": 2}}, "has `n` over 1: to ask more than once, use `repeat`"),
        ({"model": "m", "params": {"stream": "yes"}}, "`params.stream` is true or false"),
        ({"model": "m", "params": {"a": object()}}, "`params` can't be written as JSON"),
        (
            {"model": "m", "price": {"input": -1, "output": 1}},
            "`price.input` is a number of 0 or more, not -1",
        ),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        target_of(OpenAITarget, **options)
    assert said in str(caught.value)


def test_a_value_without_a_model_is_refused() -> None:
    for value in ("", "@http://x"):
        with pytest.raises(ConfigError, match="needs a model"):
            of_value(OpenAITarget, value)


def test_the_cache_key_knows_the_content_of_files(tmp_path: Path) -> None:
    target = target_of(OpenAITarget, model="m", root=str(tmp_path))
    (tmp_path / "a.txt").write_text("one")
    given = with_files(tmp_path, {"type": "file", "path": "a.txt"})
    first = target.cache_key(given)
    assert json.dumps(first) == json.dumps(target.cache_key(given))
    (tmp_path / "a.txt").write_text("two")
    assert target.cache_key(given) != first


def test_a_price_of_the_configuration() -> None:
    usage = {
        "prompt_tokens": 1000, "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400},
    }  # fmt: skip
    price = {"input": 1.0, "output": 10, "cached": 0.5}
    assert answer(completion(usage=usage), price=price).cost_usd == pytest.approx(0.0018)
    assert answer(completion(), price=price).cost_usd is None
    assert answer(completion(usage=usage)).cost_usd is None


@for_each(
    "value",
    ["//localhost:8000/v1", "localhost:8000/v1", "LOCALHOST", "127.0.0.1:80", "\\\\host\\m"],
)
def test_an_address_in_place_of_a_model_goes_to_nobody(value: str) -> None:
    with pytest.raises(ConfigError, match="it needs a model, as in openai:MODEL"):
        split_model("openai", value)
