"""Python code may return the objects that its libraries gave it."""

import datetime as dt
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any

import msgspec
import pydantic
import pytest

from evalcase.errors import TargetError
from evalcase.targets.answers import read_answer
from evalcase.types.answer import Usage
from evalcase.util.calls import seen_calls
from tests.for_each import for_each

DAY = dt.date(2026, 12, 4)


class Level(Enum):
    HIGH = "High"


@dataclass
class Risk:
    riskLevel: Level  # noqa: N815 - keys are untouched
    days: list[dt.date]


class RiskModel(pydantic.BaseModel):
    riskLevel: Level  # noqa: N815
    days: list[dt.date]


class RiskStruct(msgspec.Struct):
    riskLevel: Level  # noqa: N815
    days: list[dt.date]


@for_each("kind", [Risk, RiskModel, RiskStruct])
def test_an_object_with_fields_is_data(kind: Any) -> None:
    risk = kind(riskLevel=Level.HIGH, days=[DAY])
    data = {"riskLevel": "High", "days": ["2026-12-04"]}
    assert read_answer(risk).content == data
    assert read_answer([risk, {"inner": risk}]).content == [data, {"inner": data}]


@for_each(
    "value",
    [object(), SimpleNamespace(a=1), b"bytes", Risk, {"a": object()}, {"a": {1: Risk}}, {1}],
)
def test_other_objects_are_refused(value: Any) -> None:
    with pytest.raises(TargetError, match="the target returned"):
        read_answer(value)


class AnyModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")


def Part(**fields: Any) -> AnyModel:  # noqa: N802 - it stands for the classes of SDKs
    return AnyModel.model_validate(fields)


class Agent:
    """Something that no JSON can hold."""


@dataclass
class RunItem:
    type: str
    raw_item: Any
    agent: Agent = field(default_factory=Agent)


@dataclass
class RunResult:
    """The result of OpenAI Agents."""

    final_output: Any
    new_items: list[RunItem]
    raw_responses: list[Any]
    last_agent: Agent = field(default_factory=Agent)


def test_a_result_of_openai_agents() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'}
    said = {"type": "output_text", "text": "Two."}
    usage = Part(input_tokens=5, output_tokens=1, input_tokens_details={"cached_tokens": 2})
    result = RunResult(
        "Two.",
        [
            RunItem("tool_call_item", Part(**call)),
            RunItem(
                "tool_call_output_item",
                {"type": "function_call_output", "call_id": "c1", "output": "2"},
            ),
            RunItem(
                "message_output_item",
                Part(type="message", role="assistant", content=[Part(**said)]),
            ),
        ],
        [SimpleNamespace(usage=usage), SimpleNamespace(usage=usage)],
    )
    found = read_answer(result)
    assert (found.text, found.usage) == ("Two.", Usage(10, 2, 4))
    assert [(each.name, each.arguments) for each in seen_calls(found)] == [("add", {"a": 1})]


@dataclass
class ModelMessage:
    kind: str
    parts: list[Any]
    usage: Any = None
    timestamp: dt.datetime = field(default_factory=lambda: dt.datetime(2026, 1, 2, tzinfo=dt.UTC))


@dataclass
class AgentRunResult:
    """The result of pydantic-ai."""

    output: Any
    messages: list[ModelMessage]
    _output_tool_name: str | None = None
    deps: Agent = field(default_factory=Agent)

    def new_messages(self) -> list[ModelMessage]:
        return self.messages

    def usage(self) -> None:
        """It has one, too."""


def pydantic_ai(output: Any, *parts: Any, tool: str | None = None) -> AgentRunResult:
    used = {"input_tokens": 5, "output_tokens": 1, "cache_read_tokens": 2}
    asked = {"part_kind": "user-prompt", "content": "1+1?"}
    called = {"part_kind": "tool-call", "tool_name": "add", "args": '{"a": 1}', "tool_call_id": "c"}
    gave = {"part_kind": "tool-return", "tool_name": "add", "content": 2, "tool_call_id": "c"}
    messages = [
        ModelMessage("request", [asked]), ModelMessage("response", [called], used),
        ModelMessage("request", [gave]), ModelMessage("response", list(parts), used),
    ]  # fmt: skip
    return AgentRunResult(output, messages, tool)


def test_a_result_of_pydantic_ai() -> None:
    found = read_answer(pydantic_ai("Two.", {"part_kind": "text", "content": "Two."}))
    assert (found.text, found.usage) == ("Two.", Usage(10, 2, 4))
    (call,) = seen_calls(found)
    assert (call.name, call.arguments) == ("add", {"a": 1})
    assert found.messages[1].to_dict() == {"role": "tool", "tool_call_id": "c", "content": 2}


def test_the_tool_that_gives_a_structured_output_is_no_call() -> None:
    last = {"part_kind": "tool-call", "tool_name": "final_result", "args": {}, "tool_call_id": "d"}
    result = pydantic_ai(Risk(Level.HIGH, [DAY]), last, tool="final_result")
    found = read_answer(result)
    assert found.content == {"riskLevel": "High", "days": ["2026-12-04"]}
    assert [call.name for call in seen_calls(found)] == ["add"]


def test_messages_beside_an_error_are_no_answer() -> None:
    said = [{"role": "assistant", "content": "ok"}]
    assert read_answer({"messages": said, "error": None}).text == "ok"
    with pytest.raises(TargetError, match="it failed: boom"):
        read_answer({"messages": said, "error": "boom"})
