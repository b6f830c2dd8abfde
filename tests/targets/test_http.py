import asyncio
import json
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from evalcase.errors import ConfigError, GraderError, TargetError
from evalcase.targets.http import HttpOptions, HttpTarget
from evalcase.types.answer import Usage
from evalcase.types.target import Surroundings
from evalcase.util.calls import seen_calls
from tests.for_each import for_each
from tests.targets.questions import (
    answer_all,
    ask,
    carries_address,
    ignore,
    of_value,
    question,
    target_of,
)
from tests.targets.server import Reply, serving

LONG = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
]


def failure(target: HttpTarget) -> TargetError:
    with pytest.raises(TargetError) as caught:
        ask(target)
    return caught.value


def text(body: bytes) -> Reply:
    return Reply(body, 200, {"Content-Type": "text/plain"})


# What is sent.


def test_by_default_the_question_is_sent_as_programs_get_it() -> None:
    given = question(LONG, id="x", repeat=2, attempt=3, metadata={"k": [1]}, conversation_id="c")
    with serving(text(b"ok")) as server:
        assert ask(target_of(HttpTarget, url=server.url + "/answer?v=1"), given).text == "ok"
    assert server.request.path == "/answer?v=1"
    assert server.request.headers["content-type"] == "application/json"
    assert server.request.headers["user-agent"].startswith("evalcase/")
    assert server.request.json == {
        "id": "x", "suite": "suite.yaml", "case": "x", "input": LONG, "metadata": {"k": [1]},
        "conversation_id": "c", "repeat": 2, "attempt": 3, "session": "", "turn": 1, "files": {},
        "workspace": None,
    }  # fmt: skip


def test_a_text_that_is_one_placeholder_becomes_the_value_itself() -> None:
    body = {
        "q": "{prompt}", "all": ["{messages}"], "n": "{repeat}", "meta": "{metadata}",
        "id": "{case_id}", "talk": "{conversation_id}", "files": "{files}", "k": 3, "no": None,
    }  # fmt: skip
    with serving(text(b"ok")) as server:
        ask(
            target_of(HttpTarget, url=server.url, body=body),
            question(LONG, repeat=4, metadata={"a": 1}),
        )
    assert server.request.json == {
        "q": "Hi", "all": [LONG], "n": 4, "meta": {"a": 1}, "id": "one", "talk": None, "files": {},
        "k": 3, "no": None,
    }  # fmt: skip


def test_placeholders_in_a_longer_text_are_filled_in_once() -> None:
    body = "[{prompt}] {repeat} {metadata} {conversation_id}. {{prompt}} {{other}} {} {0}"
    with serving(text(b"ok")) as server:
        ask(
            target_of(HttpTarget, url=server.url, body=body),
            question("{case_id} {{prompt}}", metadata={"é": 1}),
        )
    expected = '[{case_id} {{prompt}}] 1 {"é": 1} . {prompt} {other} {} {0}'
    assert server.request.json == expected


@pytest.mark.parametrize("body", [None, {"files": "{files}"}])
def test_files_are_sent_with_their_content(tmp_path: Path, body: Any) -> None:
    (tmp_path / "a.txt").write_text("text \u00e9")
    (tmp_path / "b.bin").write_bytes(b"\xff\x00")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    parts = [{"type": "file", "path": name} for name in ("a.txt", "b.bin")]
    parts.append({"type": "image", "path": "c.png"})
    given = question([{"role": "user", "content": parts}], suite=str(tmp_path / "s.yaml"))
    options = {} if body is None else {"body": body}
    with serving({"text": "ok"}) as server:
        ask(target_of(HttpTarget, url=server.url, root=str(tmp_path), **options), given)
    assert server.request.json["files"] == {
        "a.txt": {"media_type": "text/plain", "text": "text \u00e9"},
        "b.bin": {"media_type": "application/octet-stream", "base64": "/wA="},
        "c.png": {"media_type": "image/png", "base64": "iVBORw0KGgo="},
    }


def test_a_get_asks_by_its_query_and_has_no_body() -> None:
    given = question("a&b=1 #é/?+%")
    query = {"q": "{prompt}", "all": "{messages}", "note": "about {case_id}", "k": "3"}
    with serving(text(b"ok")) as server:
        target = target_of(HttpTarget, url=server.url + "/ask?v=1", method="GET", query=query)
        assert ask(target, given).text == "ok"
    sent = server.request
    assert (sent.method, sent.body) == ("GET", b"")
    assert not {"content-type", "content-length"} & sent.headers.keys()
    assert parse_qs(urlsplit(sent.path).query) == {
        "v": ["1"], "q": ["a&b=1 #é/?+%"], "note": ["about " + given.case], "k": ["3"],
        "all": [json.dumps([{"role": "user", "content": "a&b=1 #é/?+%"}], ensure_ascii=False)],
    }  # fmt: skip


@for_each(
    ("options", "said"),
    [
        ({"method": "GET"}, "`method` is GET, which has no body"),
        (
            {"method": "GET", "query": {"q": "hi"}},
            "`query` has no placeholder such as",
        ),
        ({"method": "GET", "body": {"q": "{prompt}"}}, "`body` is not sent with a GET"),
        ({"method": "GET", "query": {"q": "{promt}"}}, "did you mean {prompt}"),
        (
            {"method": "get", "query": {"q": "{prompt}"}},
            "`method` is one of POST, GET, PUT, PATCH, not 'get'",
        ),
        ({"query": {"api_key": "sk-1"}}, "send it as a header, by `header_env`"),
        ({"url": "http://localhost/{prompt}"}, "placeholders stand in `query`, `body`"),
    ],
)
def test_what_a_request_can_not_say_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        target_of(HttpTarget, **{"url": "http://localhost/", **options})
    assert said in str(caught.value)


@for_each("options", [{"body": {"q": "{prompt}"}}, {"method": "GET", "query": {"q": "{prompt}"}}])
def test_hidden_messages_are_warned_of(options: Any) -> None:
    told: list[str] = []
    with serving(text(b"ok")) as server:
        target = target_of(HttpTarget, url=server.url, warn=told.append, **options)
        asyncio.run(answer_all(target, [question(), question(LONG)]))
    assert len(told) == 1
    assert "sends the last user message only, and cases have several messages" in told[0]


def test_an_unknown_placeholder_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no placeholder \{promt\}: did you mean \{prompt\}\?"):
        target_of(HttpTarget, url="http://x", body={"a": ["{promt}"]})
    with pytest.raises(ConfigError, match=r"there are \{prompt\}, .*Write \{\{zzz\}\} if"):
        target_of(HttpTarget, url="http://x", body="{zzz}")
    with pytest.raises(ConfigError, match="every case would be asked the same"):
        target_of(HttpTarget, url="http://x", body={"q": "Hi"})


# What comes back.


@pytest.mark.parametrize("path", ["out.0.text", "/out/0/text", "out.-1.text"])
def test_the_answer_is_picked_by_a_path(path: str) -> None:
    with serving({"out": [{"text": "4"}], "id": 7}) as server:
        assert ask(target_of(HttpTarget, url=server.url, answer=path)).content == "4"


@for_each(
    ("call", "read"),
    [
        ({"name": "find", "args": {"id": 1}}, {"tool": "find", "input": {"id": 1}}),
        ({"name": "find", "arguments": '{"id": 1}'}, {"tool": "find", "input": {"id": 1}}),
        (
            {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}},
            {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}},
        ),
    ],
)
def test_tool_calls_are_picked_by_a_path(call: Any, read: Any) -> None:
    reply = {"reply": {"text": "Done.", "tools": [call]}}
    with serving(Reply(json.dumps(reply).encode())) as server:
        asked = target_of(HttpTarget, url=server.url, answer="reply.text", tool_calls="reply.tools")
        answer = ask(asked)
    assert [dict(each) for each in answer.messages] == [
        {"role": "assistant", "tool_calls": [read]}, {"role": "assistant", "content": "Done."},
    ]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"output": "json"}, {"answer": "reply"}])
def test_calls_in_an_answer_are_never_overlooked(options: Any) -> None:
    data = {"said": "Done.", "tool_calls": [{"name": "find"}]}
    with serving(Reply(json.dumps({**data, "reply": data}).encode())) as server:
        unread = ask(target_of(HttpTarget, url=server.url, **options))
        # Where a path leads to them they are known, and the rest is data.
        answer = ask(target_of(HttpTarget, url=server.url, tool_calls="tool_calls", **options))
    with pytest.raises(GraderError, match=r"`find` at `tool_calls\.0`"):
        seen_calls(unread)
    assert [call.name for call in seen_calls(answer)] == ["find"]
    assert "Done." in answer.text


BESIDE = {"reply": {"text": "Done."}, "trace": [{"tool_calls": [{"name": "find"}]}]}


@pytest.mark.parametrize("options", [{}, {"tool_calls": "tools"}, {"tool_calls": "trace.0.calls"}])
def test_calls_to_which_no_path_leads_are_noted(options: Any) -> None:
    with serving(BESIDE) as server:
        answer = ask(target_of(HttpTarget, url=server.url, answer="reply.text", **options))
    with pytest.raises(GraderError) as caught:
        seen_calls(answer)
    assert "`find` at `trace.0.tool_calls.0` (`tool_calls` of the http target" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"answer": "reply.text", "tool_calls": False},
        {"answer": "reply.text", "tool_calls": "reply.calls"},
        {"answer": "trace", "tool_calls": False},
        {"output": "json", "tool_calls": False},
        {"tool_calls": False},
    ],
)
def test_calls_that_do_not_count_are_left_alone(options: Any) -> None:
    with serving({**BESIDE, "reply": {"text": "Done.", "calls": []}}) as server:
        assert seen_calls(ask(target_of(HttpTarget, url=server.url, **options))) == []


def test_a_path_of_calls_that_is_misspelt_is_an_error() -> None:
    reply = {"text": "Done.", "actions": [{"name": "find"}]}
    with serving(reply) as server:
        error = failure(target_of(HttpTarget, url=server.url, answer="text", tool_calls="action"))
    assert "there is nothing at `action`" in str(error)
    assert "did you mean `actions`?" in str(error)


@for_each(
    ("tools", "said"),
    [
        ("find", "`tool_calls`: at `tools` there is a string, and no list of calls"),
        ([{"args": {}}], "`tool_calls`: at `tools` call 1 names no tool: a call is {name, args}"),
        ([{"name": "find"}, 3], "call 2 names no tool"),
    ],
)
def test_what_is_no_list_of_calls_is_an_error(tools: Any, said: str) -> None:
    reply = {"text": "Done.", "tools": tools}
    with serving(Reply(json.dumps(reply).encode())) as server:
        error = failure(target_of(HttpTarget, url=server.url, answer="text", tool_calls="tools"))
    assert error.kind == "protocol"
    assert said in str(error)


def test_usage_and_cost_are_picked_by_paths() -> None:
    said: list[str] = []
    tokens = {"prompt_tokens": 3, "completion_tokens": 2, "details": {"a": 1}}
    with serving({"a": "x", "u": tokens, "money": {"usd": 0.25}}) as server:
        paths = {"answer": "a", "usage": "u", "cost_usd": "money.usd"}
        answer = ask(target_of(HttpTarget, url=server.url, warn=said.append, **paths))
    assert (answer.usage, answer.cost_usd, said) == (Usage(3, 2), 0.25, [])


@for_each(
    ("path", "there"),
    [
        ("b", "at the top there is a mapping with `a`"),
        ("a.b", "at a there is a list of 1"),
        ("a.0.x", "at a.0 there is a string"),
    ],
)
def test_a_path_that_leads_nowhere_says_what_is_there(path: str, there: str) -> None:
    with serving({"a": ["x"]}) as server:
        error = failure(target_of(HttpTarget, url=server.url, answer=path))
    assert str(error) == f"`answer`: there is nothing at `{path}`: {there}"
    assert (error.kind, error.may_succeed_later) == ("protocol", False)
    assert error.details == {"body": '{"a": ["x"]}'}


def test_json_that_was_cut_is_an_error_with_its_beginning() -> None:
    with serving({"a": "x" * 5000}) as server:
        error = failure(target_of(HttpTarget, url=server.url, answer="a", max_output_bytes=1000))
        assert "larger than `max_output_bytes`" in str(error)
        assert error.details["body"].startswith('{"a": "xxx')
        assert failure(
            target_of(HttpTarget, url=server.url, output="json", max_output_bytes=9)
        ).kind


# Options.


@for_each(
    ("options", "said"),
    [
        ({}, 'needs `url`: for example url = "http://localhost:8000/answer"'),
        ({"url": "ftp://x/y"}, "`url` is an address such as"),
        ({"url": "http://x:99999"}, "`url` is an address such as"),
        ({"url": "http://user:hunter2@x"}, "a user or a password in it: name its key"),
        ({"url": "http://x/?a=1&api_key=hunter2"}, "has a secret in its parameter `api_key`"),
        ({"url": "http://x/#a"}, "has a part after #"),
        ({"url": "http://x", "answer": "a..b"}, "`answer` has an empty step"),
        ({"url": "http://x", "answer": "a", "output": "text"}, "can't be combined with output"),
        ({"url": "http://x", "headers": {"a b": "c"}}, "can't hold a header 'a b'"),
        ({"url": "http://x", "headers": {"Content-Length": "1"}}, "can't hold a header"),
        ({"url": "http://x", "headers": {"a": "b\r\nc: d"}}, "`headers.a` holds what can't be"),
        (
            {"url": "http://x", "headers": {"authorization": "b"}, "key_env": "K"},
            "would set Authorization twice",
        ),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        target_of(HttpTarget, **options)
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_url_is_enough_on_the_command_line_and_is_an_address() -> None:
    with serving(text(b"ok")) as server:
        assert ask(of_value(HttpTarget, server.url)).text == "ok"
    assert carries_address(HttpTarget, "http://x")


def test_the_cache_key_has_what_decides_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "hunter2")

    def key(given: Any, **options: Any) -> str:
        options = {"url": "http://x/y?v=1", "body": {"q": "{prompt}"}, **options}
        return json.dumps(target_of(HttpTarget, **options).cache_key(given), sort_keys=True)

    first = key(question())
    assert first == key(question(id="other", metadata={"a": 1}))
    different = [
        key(question("Ho")), key(question(), url="http://x/y?v=2"),
        key(question(), headers={"a": "1"}), key(question(), headers={"a": "2"}),
        key(question(), key_env="MY_KEY"),
    ]  # fmt: skip
    assert len({first, *different}) == 6
    assert "hunter2" not in "".join(different)


def test_values_of_the_environment_that_are_sent_decide_the_answer_too() -> None:
    """Another tenant has another answer. Another key of the same tenant has not."""

    def key(**environment: str) -> str:
        options = HttpOptions(url="http://x", header_env={"X-Tenant": "TENANT"}, key_env="MY_KEY")
        target = HttpTarget(options, Surroundings(".", environment, ignore, time))
        return json.dumps(target.cache_key(question()))

    first = key(TENANT="acme-corp", MY_KEY="hunter2")
    assert first != key(TENANT="other", MY_KEY="hunter2")
    proxied = key(TENANT="acme-corp", HTTP_PROXY="http://u:pass-word@proxy:1")
    others = key(TENANT="acme-corp", HTTP_PROXY="http://v:pass-word@proxy:1")
    assert len({first, proxied, others}) == 3
    assert "pass-word" not in proxied
    assert first == key(TENANT="acme-corp", MY_KEY="hunter3")
    assert "acme-corp" not in first
    assert "hunter2" not in first


# Streams of events.


def delta(content: str | None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": content}}]}


DELTA = "choices.0.delta.content"


@for_each("options", [{}, {"output": "json"}, {"answer": "text"}, {"usage": "usage"}])
def test_a_stream_of_events_is_no_answer_unless_somebody_says_how_to_read_it(
    options: dict[str, Any],
) -> None:
    with serving(Reply.stream(delta("Li"), delta("ma"), done=True)) as server:
        error = failure(target_of(HttpTarget, url=server.url, **options))
    assert error.kind == "protocol"
    assert str(error).startswith('the answer is a stream of events: stream = "PATH" joins the ')
    assert "data: " in error.details["body"]


@for_each(
    "body", [b"data: 42", b"data: 42\n\nThat is all.", b": a comment", b"id: x", b'{"data:": 1}']
)
def test_a_text_that_begins_like_an_event_is_a_text(body: bytes) -> None:
    with serving(text(body)) as server:
        answer = ask(target_of(HttpTarget, url=server.url, output="auto"))
    assert answer.text == body.decode()


FINISHED = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'


@for_each("end", [b"data: [DONE]\n\ndata: after it\n\n", FINISHED, FINISHED + b": bye\n\n"])
def test_the_texts_of_a_stream_are_joined(end: bytes) -> None:
    role = {"choices": [{"delta": {"role": "assistant"}}]}
    reply = Reply.stream(role, delta("Li"), delta(None), delta("ma"), {"usage": {"n": 3}})
    reply.body += end
    with serving(reply) as server:
        assert ask(target_of(HttpTarget, url=server.url, stream=DELTA)).text == "Lima"


@for_each(
    ("body", "said"),
    [
        (b'data: {"a": 1}\n\n', "no event has a text at `choices.0.delta.content`"),
        (b"data: {\n\n", "an event is not JSON: "),
        (b'event: error\ndata: {"why": "full"}\n\n', 'it ends with an error: {"why": "full"}'),
        (
            b'data: {"choices": [{"delta": {"content": "Li"}}]}\n\ndata: {"error": "full"}\n\n',
            'it ends with an error: {"error": "full"}',
        ),
        (b'data: {"choices": [{"delta": {"content": 3}}]}\n\n', "there is a number, and no text"),
        (b'data: {"choices": [{"delta": {"content": "Li"}}]}\n\n', "it breaks off before its end"),
        (b"x" * 2000, "it is larger than `max_output_bytes`"),
    ],
)  # fmt: skip
def test_a_stream_that_makes_no_sense_is_an_error(body: bytes, said: str) -> None:
    with serving(text(body)) as server:
        target = target_of(HttpTarget, url=server.url, stream=DELTA, max_output_bytes=1000)
        error = failure(target)
    assert said in str(error)
    assert str(error).startswith("`stream`: ")
