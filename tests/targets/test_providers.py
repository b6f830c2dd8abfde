"""Providers that speak OpenAI's API, and the APIs that it has beside chat."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalcase.config.config import Config
from evalcase.config.targets import make_target
from evalcase.errors import ConfigError, TargetError
from evalcase.targets.presets import PRESETS
from evalcase.types.answer import Answer, Usage
from evalcase.types.target import vector_of
from tests.for_each import for_each
from tests.targets.openai_service import completion, make
from tests.targets.questions import ask, question, surroundings
from tests.targets.server import Reply, serving

DOCS = Path(__file__).parents[2] / "docs" / "providers.md"


def made(name: str, **tables: dict[str, Any]) -> Any:
    return make_target(name, Config(".", targets=tables), surroundings())


# Presets.


@for_each("name", sorted(PRESETS))
def test_a_provider_is_asked_where_it_is_with_its_own_key(name: str) -> None:
    preset = PRESETS[name]
    address = preset.base_url or preset.example.replace("RESOURCE", "my-resource")
    given = f"{name}:some-model" + ("" if preset.base_url else f"@{address}")
    table = {"kind": name, "model": "some-model", "base_url": address}
    for target in (made(given), made("it", it=table)):
        assert target._url == f"{address}/chat/completions"
        assert target.traits.key_names == ((preset.key_env,) if preset.key_env else ())
    elsewhere = made("it", it={**table, "base_url": "https://gateway.example/v1"})
    assert elsewhere.traits.key_names == ()
    named = made("it", it={**table, "base_url": "https://gateway.example/v1", "key_env": "MY_KEY"})
    assert named.traits.key_names == ("MY_KEY",)


@for_each("name", [name for name, preset in PRESETS.items() if not preset.base_url])
def test_an_address_of_ones_own_is_needed_where_there_is_no_other(name: str) -> None:
    with pytest.raises(ConfigError, match=f"of kind `{name}` needs `base_url`: for example"):
        made(f"{name}:some-model")
    unsafe = PRESETS[name].example.replace("https:", "http:").replace("RESOURCE", "r")
    assert made(f"{name}:m@{unsafe}").traits.key_names == ()
    assert made(f"{name}:m@https://evil.example/{name}").traits.key_names == ()


def test_azure_is_sent_its_key_in_a_header_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k-1")
    with serving(completion()) as server:
        ask(make(server, kind="azure", key_env="MY_KEY"))
    assert server.request.headers["api-key"] == "k-1"
    assert "authorization" not in server.request.headers


def test_every_provider_has_its_lines_in_the_docs() -> None:
    page = DOCS.read_text("utf-8")
    blocks = re.findall(r"```toml show\n(.*?)```", page, re.DOTALL)
    tables = [table for block in blocks for table in tomllib.loads(block)["targets"].values()]
    assert {table["kind"] for table in tables} == {*PRESETS, "openai", "anthropic"}
    assert all(made("it", it=table) for table in tables)
    for name, preset in PRESETS.items():
        assert (preset.base_url or preset.example) in page, name
        assert not preset.key_env or f"`{preset.key_env}`" in page, name


# The Responses API.


def response(*output: Any, **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 3}}
    whole = {"object": "response", "status": "completed", "model": "m-1", "usage": usage}
    return {**whole, "output": list(output), **fields}


def said(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [part],
    }  # fmt: skip


CALLED = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "add", "arguments": "{}"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}


def responding(*replies: Any) -> Any:
    return serving(*(each if isinstance(each, Reply) else Reply.of(each) for each in replies))


def asked(*input: dict[str, Any], **options: Any) -> Any:
    with responding(response(said("ok"))) as server:
        ask(make(server, api="responses", **options), question(list(input)))
    assert server.request.path == "/v1/responses"
    return server.request.json


def answered(reply: Any, **options: Any) -> Answer:
    with responding(reply) as server:
        return ask(make(server, api="responses", **options))


def test_responses_are_not_stored_unless_that_is_said() -> None:
    body = asked({"role": "user", "content": "Hi"}, params={"temperature": 0})
    assert body == {
        "model": "some-model", "input": [{"role": "user", "content": "Hi"}],
        "store": False, "temperature": 0,
    }  # fmt: skip
    assert asked({"role": "user", "content": "Hi"}, params={"store": True})["store"] is True


def test_a_conversation_with_calls_becomes_items() -> None:
    body = asked(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "1+1?"}]},
        {
            "role": "assistant", "content": "", "reasoning": [THOUGHT], "id": "msg_1",
            "tool_calls": [{"tool": "add", "input": {"a": 1}, "id": "c1"}, {"tool": "web_search"}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": {"sum": 2}},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "Thanks."},
    )  # fmt: skip
    assert body["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "1+1?"}]},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": '{"sum": 2}'},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "Thanks."},
    ]


@for_each(
    ("reply", "words"),
    [
        ({"object": "response"}, "it has no `output`"),
        (response(), "has no message and no call"),
        (response(status="in_progress"), "the response is `in_progress`"),
        (response(status="failed", error={"message": "No."}), "answered with an error: No."),
    ],
)
def test_what_is_no_answer_is_an_error(reply: Any, words: str) -> None:
    with pytest.raises(TargetError, match=re.escape(words)):
        answered(reply)


def streamed(*events: dict[str, Any], **options: Any) -> Answer:
    return answered(Reply.events(*events), params={"stream": True}, **options)


DELTA = {"type": "response.output_text.delta", "delta": "Hel"}


def test_a_stream_ends_with_the_whole_response() -> None:
    end = {"type": "response.completed", "response": response(said("Hello"), CALLED)}
    found = streamed({"type": "response.created", "response": {}}, DELTA, end)
    assert (found.text, found.usage) == ("Hello", Usage(7, 2, 3))
    assert [call.name for call in found.tool_calls] == ["add"]


def test_a_stream_that_fails_or_is_cut_is_no_answer() -> None:
    failed = {"error": {"code": "server_error", "message": "Oh."}, "status": "failed"}
    with pytest.raises(TargetError, match="with an error: Oh") as caught:
        streamed(DELTA, {"type": "response.failed", "response": failed})
    assert caught.value.may_succeed_later
    with pytest.raises(TargetError, match="before the answer was complete") as caught:
        streamed(DELTA)
    assert caught.value.may_succeed_later


def test_an_answer_by_a_schema_falls_back_where_a_service_refuses_it() -> None:
    refusal = Reply.of({"error": {"message": "Unsupported: text.format json_schema"}}, 400)
    schema = {"type": "object"}
    with responding(refusal, response(said("{}"))) as server:
        target = make(server, api="responses", params={"text": {"verbosity": "low"}})
        found = ask(target, question(schema=schema))
    first, second = (each.json["text"] for each in server.requests)
    assert first["format"] == {
        "type": "json_schema", "name": "answer", "strict": True, "schema": schema,
    }  # fmt: skip
    assert second == {"verbosity": "low", "format": {"type": "json_object"}}
    assert found.asked_as == "json_object"


# Embeddings.


@pytest.fixture
def embedding() -> Iterator[Any]:
    reply = {
        "object": "list", "model": "e-1", "usage": {"prompt_tokens": 4, "total_tokens": 4},
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1, 0.25]}],
    }  # fmt: skip
    with serving(reply) as server:
        yield server


@pytest.mark.parametrize("options", [{"api": "embeddings"}, {"model": "text-embedding-3-small"}])
def test_an_embedding_is_an_answer(embedding: Any, options: dict[str, Any]) -> None:
    price = {"input": 1, "output": 0}
    found = ask(make(embedding, price=price, **options), question("Some text."))
    assert embedding.request.path == "/v1/embeddings"
    assert embedding.request.json == {
        "model": options.get("model", "some-model"), "input": "Some text.",
    }  # fmt: skip
    assert vector_of(found) == [0.5, -1.0, 0.25]
    assert found.usage == Usage(4, 0)
    assert found.cost_usd == pytest.approx(4e-6)
