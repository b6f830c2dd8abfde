"""What coding agents print becomes answers, or an error: by recorded transcripts of each agent."""

from __future__ import annotations

import json
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, TargetError
from evalcase.targets.transcripts import LONGEST_OUTPUT, TranscriptFormat

RECORDED = Path(__file__).parents[1] / "answers"
CLAUDE: TranscriptFormat = "claude-stream-json"
CODEX: TranscriptFormat = "codex-json"


def recorded(name: str, format: TranscriptFormat) -> Answer:
    return evalcase.read_transcript((RECORDED / name).read_bytes(), format)


def calls(answer: Answer) -> list[tuple[str, str | None, bool]]:
    return [(each.name, each.get("kind"), bool(each.get("is_error"))) for each in answer.tool_calls]


@pytest.mark.parametrize(
    ("name", "format", "reason"),
    [
        ("claude_code/max_turns.jsonl", CLAUDE, "max_turns"),
        ("gemini_cli/failed.jsonl", "gemini-stream-json", "max_turns"),
        ("claude_code/refusal.jsonl", CLAUDE, "refusal"),
        ("claude_code/one_call.jsonl", CLAUDE, "end_turn"),
    ],
)
def test_a_limit_that_was_reached_is_an_answer(
    name: str, format: TranscriptFormat, reason: str
) -> None:
    answer = recorded(name, format)
    assert answer.messages[-1]["finish_reason"] == reason
    if reason == "max_turns":
        assert answer.text == ""  # what was said before is not the answer


@pytest.mark.parametrize(
    ("name", "format", "message"),
    [
        ("codex/failed.jsonl", CODEX, "Codex failed: stream disconnected"),
        ("opencode/failed.jsonl", "opencode-json", "opencode failed: The roof sensor"),
        ("claude_code/result.json", CLAUDE, "its tool calls are unknown"),
        ("gemini_cli/response.json", "gemini-stream-json", "has no end"),
    ],
)
def test_what_failed_or_hides_its_calls_is_an_error(
    name: str, format: TranscriptFormat, message: str
) -> None:
    with pytest.raises(TargetError, match=message):
        recorded(name, format)


def lines(name: str) -> list[str]:
    return (RECORDED / name).read_text().splitlines()


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("claude_code/one_call.jsonl", CLAUDE), ("codex/one_call.jsonl", CODEX),
        ("gemini_cli/one_call.jsonl", "gemini-stream-json"),
        ("copilot/one_call.jsonl", "copilot-jsonl"),
    ],
)  # fmt: skip
def test_a_transcript_that_was_cut_off_is_an_error(name: str, format: TranscriptFormat) -> None:
    with pytest.raises(TargetError, match="has no end"):
        evalcase.read_transcript(lines(name)[:-1], format)


def test_unknown_events_are_skipped_and_unknown_calls_are_errors() -> None:
    known = lines("codex/one_call.jsonl")
    new = json.dumps({"type": "item.completed", "item": {"type": "mood", "text": "calm"}})
    assert evalcase.read_transcript([new, "a warning", *known], CODEX).text == "There are two beds."
    call = {"type": "robot_arm", "name": "grab", "arguments": {"what": "spade"}}
    with pytest.raises(TargetError, match="tool call in an unknown form: `grab`"):
        evalcase.read_transcript(
            [json.dumps({"type": "item.completed", "item": call}), *known], CODEX
        )


def said(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"type": "assistant", "message": {"role": "assistant", "content": content, **more}}


def test_calls_in_odd_places_are_seen() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    message = {"type": "assistant", "message": {"role": "assistant", "content": call}}
    end = {"type": "result", "subtype": "success", "result": "ok"}
    answer = evalcase.read_transcript([message, said("ok"), end], CLAUDE)
    assert [each.name for each in answer.tool_calls] == ["Bash"]
    odd = {**call, "type": "zork_use"}
    message = {"type": "assistant", "message": {"role": "assistant", "content": [odd]}}
    with pytest.raises(TargetError, match="unknown form"):
        evalcase.read_transcript([message, end], CLAUDE)
    item = {"id": "i", "type": "command_execution", "command": "ls", "status": "in_progress"}
    turn = {"type": "turn.completed", "usage": {}}
    answer = evalcase.read_transcript([{"type": "item.started", "item": item}, turn], CODEX)
    assert [each.name for each in answer.tool_calls] == ["command_execution"]


def test_an_api_error_may_be_tried_again_and_says_its_status() -> None:
    end = {
        "type": "result", "subtype": "success", "is_error": True, "api_error_status": 529,
        "result": "API Error: overloaded",
    }  # fmt: skip
    with pytest.raises(TargetError, match="overloaded") as found:
        evalcase.read_transcript([end], CLAUDE)
    assert (found.value.overloaded, found.value.may_succeed_later) == (True, True)
    with pytest.raises(TargetError) as found:
        evalcase.read_transcript([{**end, "api_error_status": 401}], CLAUDE)
    assert not found.value.may_succeed_later


def test_a_call_without_a_name_and_a_result_of_no_call_are_errors() -> None:
    block: dict[str, Any] = {"type": "tool_use", "id": "t1", "input": {}}
    message = {"type": "assistant", "message": {"role": "assistant", "content": [block]}}
    with pytest.raises(TargetError, match="without a name"):
        evalcase.read_transcript([message], CLAUDE)
    block = {"type": "tool_result", "tool_use_id": "t9", "content": "x"}
    with pytest.raises(TargetError, match="result of no call: 't9'"):
        evalcase.read_transcript([{"type": "user", "message": {"content": [block]}}], CLAUDE)


def test_long_outputs_of_tools_are_cut_and_say_so() -> None:
    item = {
        "id": "i", "type": "command_execution", "command": "yes", "exit_code": 0,
        "aggregated_output": "y" * (LONGEST_OUTPUT + 5), "status": "completed",
    }  # fmt: skip
    end = {"type": "turn.completed", "usage": {}}
    answer = evalcase.read_transcript([{"type": "item.completed", "item": item}, end], CODEX)
    (call,) = answer.tool_calls
    assert (len(str(call.output)), call["output_cut"]) == (LONGEST_OUTPUT, 5)
    assert not answer.truncated


def sdk(kind: str, **fields: Any) -> object:
    """A message of the SDK, whose classes are dataclasses."""
    return make_dataclass(kind, [*fields])(**fields)


def test_messages_of_the_agent_sdk_are_read_as_they_are() -> None:
    said: list[object] = [
        sdk("AssistantMessage", content=[sdk("ToolUseBlock", id="t1", name="Bash", input={})]),
        sdk("UserMessage", content=[sdk("ToolResultBlock", tool_use_id="t1", content="a b")]),
        sdk("AssistantMessage", content=[sdk("TextBlock", text="Two.")], model="wren-5"),
        sdk(
            "ResultMessage",
            subtype="success",
            is_error=False,
            result="Two.",
            total_cost_usd=0.01,
            usage={"input_tokens": 3, "output_tokens": 1},
        ),
    ]
    answer = evalcase.read_transcript(said, CLAUDE)
    assert (answer.text, calls(answer)) == ("Two.", [("Bash", "shell", False)])
    assert answer.usage == evalcase.Usage(3, 1)
    assert answer.cost_usd == 0.01
