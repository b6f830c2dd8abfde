from typing import Any

import pytest

from evalcase.types.answer import Usage
from tests.run.project import Project, case
from tests.servers.aimock import Aimock
from tests.servers.asking import ask, configure, run
from tests.servers.llmock import Llmock

WEATHER = {"name": "get_weather", "arguments": {"city": "Bern", "days": [1, 2]}}
CLOCK = {"name": "get_time", "arguments": {}}
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    """An answer means the same, however it comes."""
    return bool(request.param)


def calls(*tools: str) -> dict[str, Any]:
    inputs = {call["name"]: call["arguments"] for call in (WEATHER, CLOCK)}
    wanted = [{"tool": tool, "input": inputs[tool]} for tool in tools]
    return {"role": "assistant", "tool_calls": wanted}


def test_text_is_graded_and_tokens_are_counted_and_paid(
    project: Project, aimock: Aimock, protocol: str, stream: bool
) -> None:
    text = "Grüezi, “friend”! 🙂\n- a\n- b"
    aimock.when("greet", {"content": text, "usage": USAGE}, chunkSize=3)
    cases = [
        {"id": "same", "input": "greet me", "expected_output": text},
        {"id": "other", "input": "greet you", "expected_output": "Grüezi!"},
    ]
    asked = ask(project, aimock, protocol, *cases, stream=stream)
    assert asked.done.code == 1
    assert asked.done.counts() == {"passed": 1, "failed": 1}
    answer = asked.results["same"].answer
    assert answer is not None
    assert answer.text == text
    assert answer.usage is not None
    assert answer.usage == Usage(11, 7)
    assert asked.done.json["cost_usd"] == pytest.approx(2 * (11 * 1 + 7 * 10) / 1_000_000)


def test_tool_calls_are_graded(
    project: Project, aimock: Aimock, protocol: str, stream: bool
) -> None:
    aimock.when("one", {"toolCalls": [WEATHER]}, chunkSize=3)
    aimock.when("two", {"content": "Let me see.", "toolCalls": [WEATHER, CLOCK]}, chunkSize=3)
    cases = [
        {"id": "one", "input": "one", "expected_output": [calls("get_weather")]},
        {"id": "two", "input": "two", "expected_output": [calls("get_weather", "get_time")]},
        {"id": "order", "input": "two", "expected_output": [calls("get_time", "get_weather")]},
        {"id": "none", "input": "one", "expected_output": [calls("get_time")]},
    ]
    asked = ask(project, aimock, protocol, *cases, stream=stream)
    verdicts = {id: result.verdict for id, result in asked.results.items()}
    assert verdicts == {"one": "passed", "two": "passed", "order": "failed", "none": "failed"}
    answer = asked.results["two"].answer
    assert answer is not None
    assert answer.text == "Let me see."
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [
        ("get_weather", WEATHER["arguments"]), ("get_time", {}),
    ]  # fmt: skip


def test_a_whole_conversation_is_sent(project: Project, llmock: Llmock, protocol: str) -> None:
    llmock.say("ok")
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "What is the weather?"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "tool": "get_weather", "input": {"a": 1}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Rain."},
        {"role": "user", "content": "And now?"},
    ]
    asked = ask(project, llmock, protocol, {"id": "c", "input": messages, "expected_output": "ok"})
    assert asked.done.counts() == {"passed": 1}
    (request,) = llmock.requests()
    sent = request["body"]
    roles = [message["role"] for message in sent["messages"]]
    if protocol == "openai":
        assert roles == ["system", "user", "assistant", "tool", "user"]
        assert sent["messages"][3]["tool_call_id"] == "c1"
    else:
        # A tool's result is part of a user's message there, and the system has a place of its own.
        assert "Be kind." in str(sent["system"])
        assert set(roles) == {"user", "assistant"}
        assert {"type": "tool_result", "tool_use_id": "c1"}.items() <= _results(sent)[0].items()


def _results(body: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [part for message in body["messages"] for part in message["content"]]
    return [part for part in parts if isinstance(part, dict) and part["type"] == "tool_result"]


# Verdict


MANY = ("--concurrency", "20", "--retries", "5")


def test_many_at_once_behave(project: Project, llmock: Llmock) -> None:
    """The gate: what llmock has to complain of, of whatever kind, fails this test."""
    llmock.say("ok")
    for protocol in ("openai", "anthropic"):
        # More than are under way at once, so that some are refused again.
        llmock.fail(429, times=12, retry_after=0.5, match={"provider": protocol})
        llmock.fail(529, times=3, retry_after=0.5, match={"provider": protocol})
    configure(project, llmock, "openai", "anthropic")
    project.suite(*(case(f"c{number}", f"Question {number}") for number in range(40)))
    done = run(project, "openai", "anthropic", options=MANY).done
    assert done.code == 0
    assert done.counts() == {"passed": 80}
    verdict = llmock.verdict()
    assert (verdict["calls"], verdict["attempts"], verdict["faults_injected"]) == (80, 110, 30)
    assert llmock.findings() == []
