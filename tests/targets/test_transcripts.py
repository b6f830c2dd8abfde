"""What coding agents print becomes answers, or an error: by recorded transcripts of each agent."""

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
    code = 0 if reason == "end_turn" else 1  # agents exit with any code then
    said = (RECORDED / name).read_bytes()
    answer = evalcase.read_transcript(said, format, exit_code=code)
    assert answer.messages[-1]["finish_reason"] == reason
    if reason == "max_turns":
        assert answer.text == ""  # what was said before is not the answer


@pytest.mark.parametrize(
    ("name", "format", "session"),
    [
        ("claude_code/one_call.jsonl", CLAUDE, "0190a1b2-0000-7000-8000-00c0ffee0000"),
        ("codex/one_call.jsonl", CODEX, "0190a1b2-0000-7000-8000-00c0ffee0000"),
        ("gemini_cli/one_call.jsonl", "gemini-stream-json", "g-1"),
        ("copilot/one_call.jsonl", "copilot-jsonl", "k-1"),
        ("opencode/one_call.jsonl", "opencode-json", "ses_1"),
        ("mini_swe_agent/trajectory.json", "traj", None),
    ],
)
def test_an_answer_has_the_id_of_its_session(
    name: str, format: TranscriptFormat, session: str | None
) -> None:
    assert recorded(name, format).session == session


def test_the_command_by_which_mini_swe_agent_submits_is_no_failed_call() -> None:
    answer = recorded("mini_swe_agent/trajectory.json", "traj")
    assert answer.text == "There are two beds."
    assert calls(answer) == [("bash", "shell", False)] * 2


def test_a_cost_of_0_is_not_known() -> None:
    trajectory = json.loads((RECORDED / "mini_swe_agent/trajectory.json").read_text())
    trajectory["info"]["model_stats"]["instance_cost"] = 0.0
    assert evalcase.read_transcript([trajectory], "traj").cost_usd is None


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


@pytest.mark.parametrize(
    ("name", "format", "agent"),
    [
        ("claude_code/one_call.jsonl", CLAUDE, "Claude Code"),
        ("codex/one_call.jsonl", CODEX, "Codex"),
        ("gemini_cli/one_call.jsonl", "gemini-stream-json", "Gemini CLI"),
        ("opencode/one_call.jsonl", "opencode-json", "opencode"),
    ],
)  # fmt: skip
def test_an_exit_code_is_an_error_whether_or_not_there_is_an_end(
    name: str, format: TranscriptFormat, agent: str
) -> None:
    for said in (lines(name), lines(name)[:1]):
        with pytest.raises(TargetError, match=f"{agent} failed with exit code 1") as found:
            evalcase.read_transcript(said, format, exit_code=1)
        assert (found.value.kind, found.value.may_succeed_later) == ("exit", False)


def test_copilot_says_its_exit_code_itself() -> None:
    *before, last = lines("copilot/one_call.jsonl")
    end = {**json.loads(last), "exitCode": 1}
    with pytest.raises(TargetError, match="Copilot failed with exit code 1"):
        evalcase.read_transcript([*before, json.dumps(end)], "copilot-jsonl")


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


def claude_error(**fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": True, **fields}


def codex_error(message: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": message}}


def opencode_error(**data: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"name": "APIError", "data": data}}


NEVER, LATER, OVERLOADED = (False, False), (True, False), (True, True)


@pytest.mark.parametrize(
    ("event", "format", "status", "when"),
    [
        (claude_error(result="No", api_error_status=401), CLAUDE, 401, NEVER),
        (claude_error(result="Later", api_error_status=529), CLAUDE, 529, OVERLOADED),
        (claude_error(result='API Error: 400 {"type":"error"}'), CLAUDE, 400, NEVER),
        (claude_error(result="Invalid API key"), CLAUDE, None, NEVER),
        (codex_error("exceeded retry limit, last status: 401 Unauthorized"), CODEX, 401, NEVER),
        (codex_error("unexpected status 503 Service Unavailable"), CODEX, 503, LATER),
        (codex_error("429 Too Many Requests"), CODEX, 429, OVERLOADED),
        (codex_error("stream disconnected before completion: 12 of 401 bytes"),
         CODEX, None, LATER),
        (opencode_error(message="No key", statusCode=401), "opencode-json", 401, NEVER),
        (opencode_error(message="Later", statusCode="429"), "opencode-json", 429, OVERLOADED),
        (opencode_error(message="Connection reset"), "opencode-json", None, LATER),
        ({"type": "session.error", "data": {"message": "No", "statusCode": 403}},
         "copilot-jsonl", 403, NEVER),
        ({"type": "result", "status": "error",
          "error": {"message": '[API Error: {"error":{"code":429}}]'}},
         "gemini-stream-json", 429, OVERLOADED),
    ],
)  # fmt: skip
def test_the_status_of_a_failure_decides_whether_it_is_tried_again(
    event: dict[str, Any], format: TranscriptFormat, status: int | None, when: tuple[bool, bool]
) -> None:
    with pytest.raises(TargetError, match="failed") as found:
        evalcase.read_transcript([event], format)
    error = found.value
    assert error.details.get("status") == status
    assert (error.may_succeed_later, error.overloaded) == when


def test_a_call_without_a_name_and_a_result_of_no_call_are_errors() -> None:
    block: dict[str, Any] = {"type": "tool_use", "id": "t1", "input": {}}
    message = {"type": "assistant", "message": {"role": "assistant", "content": [block]}}
    with pytest.raises(TargetError, match="without a name"):
        evalcase.read_transcript([message], CLAUDE)
    block = {"type": "tool_result", "tool_use_id": "t9", "content": "x"}
    with pytest.raises(TargetError, match="result of no call: 't9'"):
        evalcase.read_transcript([{"type": "user", "message": {"content": [block]}}], CLAUDE)


def test_no_call_hides_behind_another_or_in_an_odd_list() -> None:
    def atif(calls: object) -> list[dict[str, Any]]:
        return [{"steps": [{"source": "agent", "message": "", "tool_calls": calls}]}]

    ids = "a", "", ""
    calls = [{"tool_call_id": id, "function_name": "rm", "arguments": id} for id in ids]
    answer = evalcase.read_transcript(atif(calls), "atif")
    assert [each.name for each in answer.tool_calls] == ["rm"] * 3
    again = [*calls, {**calls[0], "function_name": "ls"}]
    for odd, why in ((again, "two calls with the id 'a'"), (calls[0], "unknown form")):
        with pytest.raises(TargetError, match=why):
            evalcase.read_transcript(atif(odd), "atif")
    user = [{"steps": [{"source": "users", "tool_calls": calls}]}]
    with pytest.raises(TargetError, match="unknown form"):
        evalcase.read_transcript(user, "atif")
    action = {"actions": [{"command": "ls", "tool_call_id": "a"}]}
    result = {"tool_call_id": "b", "extra": {"raw_output": ""}}
    with pytest.raises(TargetError, match="result of no call"):
        evalcase.read_transcript(
            [{"info": {}, "messages": [{"role": "assistant", "extra": action}, result]}], "traj"
        )
    end = {"type": "result", "subtype": "success", "result": "ok"}
    denied = {**end, "permission_denials": [{"tool_name": "Write"}]}
    answer = evalcase.read_transcript([said("ok"), denied], CLAUDE)
    assert answer.tool_calls[0].get("denied")
    with pytest.raises(TargetError, match="Claude Code failed"):
        evalcase.read_transcript([{**end, "is_error": True, "api_error_status": "529"}], CLAUDE)


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


def test_lines_end_at_line_feeds_and_half_a_line_is_an_error() -> None:
    item = {"id": "i", "type": "command_execution", "command": "echo \u2028", "status": "failed"}
    end = '{"type": "turn.completed", "usage": {}}'
    line = json.dumps({"type": "item.completed", "item": item}, ensure_ascii=False)
    assert calls(evalcase.read_transcript(f"{line}\n{end}", CODEX))[0][2]
    with pytest.raises(TargetError, match="a line that is not JSON"):
        evalcase.read_transcript(f"{line[:40]}\n{end}", CODEX)


def test_what_an_agent_did_until_it_was_stopped_is_an_answer() -> None:
    cut = "\n".join(lines("claude_code/one_call.jsonl")[:3]) + '\n{"type": "resu'
    answer = evalcase.read_transcript(cut, CLAUDE, stopped="max_time")
    assert (len(answer.tool_calls), answer.text) == (1, "")
    assert answer.messages[-1]["finish_reason"] == "max_time"


def test_what_gemini_said_last_before_it_was_stopped_is_its_answer() -> None:
    said = [{"type": "message", "role": "assistant", "content": each} for each in ("Two ", "beds")]
    answer = evalcase.read_transcript(said, "gemini-stream-json", stopped="max_time")
    assert answer.text == "Two beds"


def message(*blocks: Any, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3}
    said = {"id": "m", "role": "assistant", "model": "wren-5", "content": [*blocks], "usage": usage}
    return {"type": "assistant", "message": said, **more}


def use(id: str, tool: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": tool, "input": input}


def test_a_session_of_claude_code_has_the_calls_of_subagents() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x", "is_error": True}
    events: list[dict[str, Any]] = [
        {"type": "summary", "summary": "a bug"},
        {"type": "user", "message": {"role": "user", "content": "Fix it."}},
        message(use("t1", "Bash", command="ls")),
        {"type": "user", "message": {"role": "user", "content": [result]}},
        message(use("t2", "Read"), isSidechain=True),
        {"type": "progress", "parentToolUseID": "t9",
         "data": {"message": message(use("t3", "Grep"))}},
        message({"type": "text", "text": "Done."}),
        {"type": "mood", "mood": "calm"},
    ]  # fmt: skip
    answer = evalcase.read_transcript(events, "claude-session")
    assert calls(answer) == [
        ("Bash", "shell", True),
        ("Read", "read", False),
        ("Grep", "search", False),
    ]
    assert [each.get("parent") for each in answer.tool_calls] == [None, "sidechain", "t9"]
    assert (answer.text, answer.usage, answer.cost_usd) == ("Done.", evalcase.Usage(7, 3, 2), None)
    failure = message({"type": "text", "text": "API Error: 529"}, isApiErrorMessage=True)
    with pytest.raises(TargetError, match="API Error: 529"):
        evalcase.read_transcript([*events, failure], "claude-session")


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": kind, **fields}}


def test_a_rollout_of_codex_is_read() -> None:
    given = json.dumps({"command": ["ls"]})
    total = {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}
    events = [
        {"type": "session_meta", "payload": {"id": "s"}},
        {"type": "turn_context", "payload": {"model": "heron-3"}},
        item("function_call", name="shell", arguments=given, call_id="c1"),
        item("function_call_output", call_id="c1",
             output=json.dumps({"output": "no", "metadata": {"exit_code": 1}})),
        item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
        item("custom_tool_call_output", call_id="c2", output="Exit code: 0\nDone"),
        item("function_call", name="exec_command", arguments='{"cmd": "false"}', call_id="c3"),
        item("function_call_output", call_id="c3",
             output="Wall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno"),
        {"type": "event_msg",
         "payload": {"type": "token_count", "info": {"total_token_usage": total}}},
        item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
    ]  # fmt: skip
    answer = evalcase.read_transcript(events, "codex-rollout")
    assert calls(answer) == [
        ("shell", "shell", True), ("apply_patch", "edit", False), ("exec_command", "shell", True),
    ]  # fmt: skip
    assert (answer.tool_calls[0].output, answer.text, answer.model) == ("no", "Done.", "heron-3")
    assert answer.session == "s"
    assert answer.usage == evalcase.Usage(9, 2, 4)
    with pytest.raises(TargetError, match="unknown form"):
        evalcase.read_transcript(
            [item("robot_call", name="grab", arguments="{}"), *events], "codex-rollout"
        )


def test_events_of_copilot_end_with_the_tokens_of_the_session() -> None:
    usage = {"inputTokens": 8, "outputTokens": 2, "cacheReadTokens": 1, "cacheWriteTokens": 0}
    end = {"modelMetrics": {"heron-3": {"requests": {"count": 1}, "usage": usage}}}
    events = [json.loads(line) for line in lines("copilot/one_call.jsonl")[:-1]]
    events.append({"type": "session.shutdown", "data": end})
    answer = evalcase.read_transcript(events, "copilot-events")
    assert (answer.text, answer.usage) == ("There are two beds.", evalcase.Usage(8, 2, 1))


def test_transcripts_of_agentv_are_read_one_test_at_a_time() -> None:
    rows = [
        {"test_id": "a", "role": "user", "content": "?"},
        {"test_id": "a", "role": "assistant", "content": "",
         "tool_calls": [{"tool": "Bash", "input": {"command": "ls"}, "output": "x"}]},
        {"test_id": "a", "role": "assistant", "content": "Done.", "transcript_cost_usd": 0.2,
         "transcript_token_usage": {"input": 5, "output": 1}},
    ]  # fmt: skip
    answer = evalcase.read_transcript(rows, "agentv-transcript")
    assert (calls(answer), answer.text) == ([("Bash", "shell", False)], "Done.")
    assert (answer.usage, answer.cost_usd) == (evalcase.Usage(5, 1), 0.2)
    with pytest.raises(TargetError, match="several tests: a, b"):
        evalcase.read_transcript([*rows, {"test_id": "b"}], "agentv-transcript")


def test_two_calls_with_one_id_are_an_error() -> None:
    def used(command: str) -> dict[str, Any]:
        block = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": command}}
        return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}

    end = {"type": "result", "subtype": "success", "result": "ok"}
    for second in ("ls", "rm"):
        with pytest.raises(TargetError, match="two calls with the id 'c'"):
            evalcase.read_transcript([used("rm"), used(second), end], CLAUDE)


def test_an_event_behind_a_warning_is_read() -> None:
    first, *rest = lines("claude_code/one_call.jsonl")
    text = "\n".join([first, *(f"Update available! {line}" for line in rest)])
    assert len(evalcase.read_transcript(text, CLAUDE).tool_calls) == 1
    with pytest.raises(TargetError, match="a line that is not JSON"):
        evalcase.read_transcript("\n".join([first, f"Note: {rest[0][:-2]}", *rest]), CLAUDE)


def test_commands_of_mini_swe_agent_1_are_in_an_unknown_form() -> None:
    said = {"role": "assistant", "content": "```bash\nrm -rf /\n```"}
    old = {"info": {"exit_status": "Submitted", "submission": ""}, "messages": [said]}
    with pytest.raises(TargetError, match="commands in an unknown form"):
        evalcase.read_transcript([old], "traj")
