"""What real agents answer, and no grader may pass: calls that were not read, nothing said, and
replies that are no answer. tests/answers has the forms, one by one."""

import json
from typing import Any

import pytest

from tests.run.project import Done, Project
from tests.targets.server import Reply, serving

TRANSCRIPTS: dict[str, list[dict[str, Any]]] = {
    "claude": [
        {"type": "system", "subtype": "init", "tools": ["Bash"]},
        {"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
        ]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done"},
    ],
    "codex": [
        {"type": "thread.started", "thread_id": "1"},
        {"type": "item.completed", "item": {
            "id": "i1", "type": "command_execution", "command": "ls", "status": "completed",
        }},
        {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "Done"}},
    ],
}  # fmt: skip


def run(project: Project, target: str, *graders: Any, **fields: Any) -> Done:
    project.suite({"id": "one", "input": "say ok", "graders": [*graders], **fields})
    return project.run("run", "--target", target, "--json")


def reason(project: Project) -> str:
    (row,) = project.run("report", "--format", "jsonl").out.splitlines()
    trial = json.loads(row)
    if trial["failure"] is not None:
        return str(trial["failure"]["message"])
    return "; ".join(grade["reason"] for grade in trial["grades"])


@pytest.mark.parametrize("agent", TRANSCRIPTS)
def test_fault_61_a_transcript_has_calls(project: Project, agent: str) -> None:
    lines = "\n".join(map(json.dumps, TRANSCRIPTS[agent]))
    (project.path / "transcript.jsonl").write_text(lines)
    done = run(
        project, "command:cat transcript.jsonl", {"tool_calls": {"forbidden": ["x"], "max": 0}}
    )
    assert done.code == 3
    assert "what looks like a tool call and was not read" in reason(project)
    # Graders that don't look at calls are not affected.
    assert run(project, "command:cat transcript.jsonl", {"contains": "Done"}).code == 0


@pytest.mark.parametrize(
    "said", ["''", "' '", "[]", "{}", "[{'type': 'thinking', 'thinking': 'x'}]"]
)
def test_fault_61_nothing_said_is_no_pass(project: Project, said: str) -> None:
    project.add_to_agent(f"def silent(question):\n    return {said}\n")
    graders = [
        {"type": "contains", "value": "secret", "not": True},
        {"type": "regex", "value": "secret", "not": True},
        {"type": "equals", "value": "secret", "not": True},
        {"length": {"max": 100}},
    ]
    for grader in graders:
        assert run(project, "python:agent:silent", grader).code == 1, grader


STREAMS: dict[str, tuple[str, list[Any]]] = {
    "chat": ("choices.0.delta.content", [
        {"choices": [{"delta": {"content": "ok"}}]},
        {"choices": [{"delta": {"tool_calls": [
            {"index": 0, "id": "c", "function": {"name": "delete_all", "arguments": "{}"}},
        ]}, "finish_reason": "tool_calls"}]},
    ]),
    "responses": ("delta", [
        {"type": "response.output_text.delta", "delta": "ok"},
        {"type": "response.output_item.added", "item": {
            "type": "function_call", "name": "delete_all", "arguments": "", "call_id": "c",
        }},
        {"type": "response.completed", "response": {"object": "response", "status": "completed"}},
    ]),
    "anthropic": ("delta.text", [
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ok"}},
        {"type": "content_block_start", "content_block": {
            "type": "tool_use", "name": "delete_all", "id": "c", "input": {},
        }},
        {"type": "message_stop"},
    ]),
    "gemini": ("candidates.0.content.parts.0.text", [
        {"candidates": [{"content": {"parts": [{"text": "ok"}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "delete_all"}}]}}]},
    ]),
}  # fmt: skip


@pytest.mark.parametrize("form", STREAMS)
def test_fault_61_calls_in_a_stream_are_seen(project: Project, form: str) -> None:
    path, events = STREAMS[form]
    forbidden = {"tool_calls": {"forbidden": ["delete_all"]}}
    with serving(Reply.stream(*events, done=True)) as server:
        options = f'kind = "http"\nurl = "{server.url}"\nstream = "{path}"\n'
        project.configure(f"[targets.s]\n{options}")
        assert run(project, "s", forbidden).code == 3
        assert "`delete_all`" in reason(project)
        assert run(project, "s", {"equals": "ok"}).code == 0
        project.configure(f"[targets.s]\n{options}tool_calls = false\n")
        assert run(project, "s", forbidden).code == 0


MCP = [
    {"type": "mcp_tool_use", "id": "1", "name": "delete_all", "server_name": "db", "input": {}},
    {"type": "mcp_tool_result", "tool_use_id": "1", "is_error": True, "content": []},
    {"type": "text", "text": "done"},
]
REPLIES: dict[str, tuple[Any, Any, int]] = {
    "mcp": (
        {"type": "message", "role": "assistant", "content": MCP},
        {"tool_calls": {"forbidden": ["delete_all"]}}, 1,
    ),
    "mcp failed": (
        {"type": "message", "role": "assistant", "content": MCP},
        {"tool_calls": {"errors": "forbid"}}, 1,
    ),
    "output of mcp": (
        {"role": "assistant", "tool_calls": [{"tool": "t", "output": {"isError": True}}]},
        {"tool_calls": {"errors": "forbid"}}, 1,
    ),
    "status": (
        [{"role": "assistant", "tool_calls": [{"tool": "t", "id": "1"}]},
         {"role": "tool", "tool_call_id": "1", "status": "error", "content": "no"}],
        {"tool_calls": {"errors": "forbid"}}, 1,
    ),
    "pydantic-ai": (
        [{"parts": [{"tool_name": "delete_all", "args": {}, "part_kind": "tool-call"}]}],
        {"tool_calls": {"max": 0}}, 3,
    ),
    "langchain": (
        {"input": "x", "output": "ok",
         "intermediate_steps": [[{"tool": "delete_all", "tool_input": {}}, "done"]]},
        {"tool_calls": {"max": 0}}, 3,
    ),
    "invalid": (
        {"role": "assistant", "content": "ok", "invalid_tool_calls": [{"name": "delete_all"}]},
        {"tool_calls": {"max": 0}}, 3,
    ),
    "vercel": (
        {"role": "assistant", "content": "ok", "toolInvocations": [{"toolName": "delete_all"}]},
        {"tool_calls": {"max": 0}}, 3,
    ),
    "agents sdk": (
        {"new_items": [{"raw_item": {"type": "function_call", "name": "x", "arguments": ""}}]},
        {"tool_calls": {"max": 0}}, 3,
    ),
    "in progress": (
        {"object": "response", "status": "in_progress", "output": [
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "ok"}]}]},
        {"contains": "ok"}, 3,
    ),
    "error beside choices": (
        {"choices": [{"message": {"role": "assistant", "content": "ok"}}], "error": {"code": 502}},
        {"contains": "ok"}, 3,
    ),
    "blocked": (
        {"choices": [{"message": {"role": "assistant", "content": ""},
                      "finish_reason": "content_filter"}]},
        {"type": "contains", "value": "secret", "not": True}, 3,
    ),
    "blocked, by finish": (
        {"choices": [{"message": {"role": "assistant", "content": ""},
                      "finish_reason": "content_filter"}]},
        {"finish": "content_filter"}, 0,
    ),
    "prompt blocked": (
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"type": "contains", "value": "secret", "not": True}, 3,
    ),
    "langchain, blocked": (
        {"type": "ai", "content": "", "response_metadata": {"finish_reason": "content_filter"}},
        {"type": "contains", "value": "secret", "not": True}, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_fault_61_replies_are_read_or_errored(project: Project, name: str) -> None:
    reply, grader, code = REPLIES[name]
    project.add_to_agent(f"def reply(question):\n    return {reply!r}\n")
    assert run(project, "python:agent:reply", grader).code == code
    if code == 3 and "tool_calls" in grader:
        assert "was not read" in reason(project)


def test_fault_61_a_function_that_takes_calls_is_given_all_of_them_or_none(
    project: Project,
) -> None:
    project.add_to_agent(
        "def reply(question):\n    return {'plan': [{'tool': 'delete_all', 'input': {}}]}\n\n\n"
        "def calls_nothing(tool_calls):\n    return not tool_calls\n"
    )
    assert run(project, "python:agent:reply", "python:agent:calls_nothing").code == 3


def test_fault_61_a_service_with_a_path_that_failed_or_was_blocked(project: Project) -> None:
    said = {"message": {"role": "assistant", "content": "ok"}}
    for beside, code in [({}, 0), ({"error": {"code": 502}}, 3)]:
        with serving({"choices": [said], **beside}) as server:
            path = 'answer = "choices.0.message.content"'
            project.configure(f'[targets.s]\nkind = "http"\nurl = "{server.url}"\n{path}\n')
            assert run(project, "s", {"contains": "ok"}).code == code
    with serving({"choices": [{**said, "finish_reason": "content_filter"}]}) as server:
        project.configure(f'[targets.s]\nkind = "http"\nurl = "{server.url}"\n{path}\n')
        assert run(project, "s", {"contains": "ok"}).code == 3


def test_fault_61_an_answer_that_was_cut_off_is_marked_and_graded(project: Project) -> None:
    project.add_to_agent(
        "def reply(question):\n"
        "    said = {'role': 'assistant', 'content': 'The answer is'}\n"
        "    return {'choices': [{'message': said, 'finish_reason': 'length'}]}\n"
    )
    done = run(project, "python:agent:reply", {"contains": "answer"})
    assert done.code == 0
    assert "were cut off (finish reason `length`)" in done.err
    assert "cut off (finish reason length)" in project.run("report", "--case", "one").out


@pytest.mark.parametrize("end", ["max_output_tokens", "incomplete", "MAX_TOKENS"])
def test_fault_61_a_judge_that_was_cut_off_gives_no_verdict(project: Project, end: str) -> None:
    project.add_to_agent(
        "def judge(question):\n"
        '    said = \'{"results": [{"id": "1", "reason": "x", "verdict": "met"}]}\'\n'
        f"    return {{'role': 'assistant', 'content': said, 'finish_reason': '{end}'}}\n"
    )
    project.configure(
        '[targets.j]\nkind = "python"\nfunction = "agent:judge"\n[judge]\ntarget = "j"\n'
    )
    assert run(project, "python:agent:answer", {"judge": "It is polite."}).code == 3
    assert "cut off" in reason(project)


def test_fault_61_a_turn_that_was_blocked_is_not_graded(project: Project) -> None:
    project.add_to_agent(
        "def reply(messages):\n"
        "    said = {'role': 'assistant', 'content': 'fine', 'finish_reason': 'content_filter'}\n"
        "    return 'fine' if len(messages) > 1 else said\n"
    )
    project.suite({
        "id": "one", "turns": [{"input": "a"}, {"input": "b"}],
        "graders": [{"type": "contains", "value": "secret", "not": True}],
    })  # fmt: skip
    assert project.run("run", "--target", "python:agent:reply", "--json").code == 3


def test_fault_61_a_blocked_answer_is_not_kept_in_the_cache(project: Project) -> None:
    project.add_to_agent(
        "def reply(question):\n    note('asked', 'x')\n"
        "    return {'role': 'assistant', 'content': '', 'finish_reason': 'content_filter'}\n"
    )
    project.suite({"id": "one", "input": "a", "graders": [{"contains": "x"}]})
    for _ in range(2):
        assert project.run("run", "--target", "python:agent:reply", "--cache", "--json").code == 3
    assert len(project.calls("asked")) == 2


def test_fault_61_a_script_is_told_of_calls_that_were_not_read(project: Project) -> None:
    project.add_to_agent(
        "def reply(question):\n    return {'steps': [{'tool': 'x', 'args': {}}]}\n"
    )
    (project.path / "check.py").write_text(
        "import json, sys\n"
        "given = json.load(sys.stdin)\n"
        "print(json.dumps({'score': 0.0 if given['unread_calls'] else 1.0}))\n"
    )
    assert run(project, "python:agent:reply", {"script": ["python3", "check.py"]}).code == 1
