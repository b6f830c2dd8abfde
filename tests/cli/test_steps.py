"""The steps of traced answers, from the record to wherever they are shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalcase.types.answer import Answer
from evalcase.types.message import Message, Step
from tests.cli.command import evalcase
from tests.run.project import Project
from tests.tracing.otlp import chat, line, span

RECORDED = Path(__file__).parent.parent / "tracing" / "recorded"
STEPS = (
    Step("agent", "agent", 0, 0.0, 2.5),
    Step("chat small", "model", 1, 0.1, 1.0, input_tokens=5, output_tokens=None),
    Step("execute_tool find", "tool", 1, 1.2, 0.25, "no \x1b[31mdisk", "find", {"q": "a b"}),
    Step("retrieve", "other", 2, 1.3, None, ""),
)


def answer(text: str, steps: tuple[Step, ...] = (), cut: int = 0) -> Answer:
    message = Message({"role": "assistant", "content": text})
    return Answer((message,), steps=steps, steps_cut=cut)


def test_a_case_in_full_has_its_steps_as_a_tree(tmp_path: Path) -> None:
    for name in ("pydantic-ai-6.jsonl", "weather.eval.yaml"):
        (tmp_path / name).write_bytes((RECORDED / name).read_bytes())
    evalcase("run", "--target", "otlp:pydantic-ai-6.jsonl", "--case", "nowhere", cwd=tmp_path)
    shown = evalcase("report", "--case", "nowhere", cwd=tmp_path).out
    tree = [each for each in shown.partition("  steps\n")[2].splitlines() if "by" not in each]
    names = [(len(each) - len(each.lstrip()), each.strip().partition(",")[0]) for each in tree]
    assert names[:4] == [
        (4, "case"), (6, "invoke_agent weather"), (8, "chat function:model:"),
        (8, "execute_tool look_up"),
    ]  # fmt: skip
    assert 'city="Nowhere"' in shown
    row = json.loads(evalcase("report", "--format", "jsonl", cwd=tmp_path).out)
    assert [step["name"] for step in row["steps"]] == [
        "case", "invoke_agent weather", "chat function:model:", "execute_tool look_up",
        "chat function:model:",
    ]  # fmt: skip
    assert (row["steps"][3]["tool"], row["steps_cut"], len(row["trace"])) == ("look_up", 0, 32)


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """A project whose only answer took a step with a secret in it."""
    tool: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find",
        "gen_ai.tool.call.arguments": '{"token": "tok-9f8e7d6c5b"}',
    }  # fmt: skip
    root = span({"evalcase.case": "a"}, id="01", name="agent", seconds=3)
    spans = [root, span(tool, parent="01", start=1, name="tool"), chat("ok", parent="01", start=2)]
    (tmp_path / "t.jsonl").write_text(line(*spans))
    graders = [
        {"tool_calls": {"steps": "tool", "needed": {"find": 1}}},
        {"latency": {"value": 5, "steps": "agent"}},
        {"type": "trajectory", "value": ["find"], "steps": "t*"},
    ]
    (tmp_path / "s.eval.yaml").write_text(
        json.dumps({"cases": [{"id": "a", "input": "?", "graders": graders}]})
    )
    (tmp_path / "evalcase.toml").write_text('secrets = ["SHOP_TOKEN"]\n')
    return tmp_path


def test_graders_look_at_steps_and_do_so_again_in_a_replay(traced: Path) -> None:
    first = evalcase("run", "--target", "otlp:t.jsonl", "--runs-dir", "one", cwd=traced)
    assert first.out.startswith("1 passed"), first
    (run,) = (traced / "one").glob("2*")
    again = evalcase("run", "--target", f"replay:one/{run.name}", "--runs-dir", "two", cwd=traced)
    assert again.out.startswith("1 passed"), again


CALLING = """
from opentelemetry import trace

TRACER = trace.get_tracer("agent")
KINDS = [
    {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find",
     "gen_ai.tool.call.arguments": '{"q": "a"}'},
    {"openinference.span.kind": "TOOL", "tool.name": "save", "input.value": '{"id": 1}'},
]


def plain(text):
    with TRACER.start_as_current_span("agent"):
        for attributes in KINDS:
            TRACER.start_span("SimpleTool", attributes=attributes).end()
        TRACER.start_span("not a tool").end()
    return "done"


def telling(text):
    plain(text)
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"q": "a"}'}}
    return [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "x"},
        {"role": "assistant", "content": "done"},
    ]
"""


@pytest.mark.parametrize("function", ["plain", "telling"])
def test_steps_that_are_calls_of_tools_are_calls_of_the_answer(
    project: Project, function: str
) -> None:
    (project.path / "calling_agent.py").write_text(CALLING)
    target = f'kind = "python"\nfunction = "calling_agent:{function}"\ntrace = true\n'
    project.configure(f"[targets.agent]\n{target}")
    project.suite(
        {"id": "counted", "input": "?", "graders": [{"tool_calls": {
            "needed": {"find": 1, "save": 1}, "max": 2, "errors": "forbid"}}]},
        {"id": "in order", "input": "?", "graders": [
            {"trajectory": [{"tool": "find", "input": {"q": "a"}}, "save"]}]},
        {"id": "expected", "input": "?", "expected_output": [
            {"role": "assistant", "tool_calls": [{"tool": "save", "input": {"id": 1}}]}]},
        {"id": "forbidden", "input": "?", "graders": [{"tool_calls": {"forbidden": ["save"]}}]},
        {"id": "named", "input": "?", "graders": [
            {"tool_calls": {"steps": "execute_tool *", "min": 1}}]},
    )  # fmt: skip
    done = project.run("run", "--target", "agent")
    assert "3 passed" in done.out, done
    assert "`save` was called, which is forbidden" in done.out
    said = " ".join(done.out.split())
    assert "no step is called 'execute_tool *'; there are agent, SimpleTool, not a tool" in said


def test_secrets_in_steps_are_not_recorded(traced: Path) -> None:
    env = {"SHOP_TOKEN": "tok-9f8e7d6c5b"}
    done = evalcase("run", "--target", "otlp:t.jsonl", cwd=traced, env=env)
    assert done.out.startswith("1 passed"), done
    (journal,) = traced.glob(".evalcase/runs/*/journal.jsonl")
    assert "tok-9f8e7d6c5b" not in journal.read_text()
    shown = evalcase("report", "--case", "a", cwd=traced).out
    assert "***SHOP_TOKEN***" in shown


AGENT = """\
from opentelemetry import trace

tracer = trace.get_tracer("agent")

def answer(messages):
    with tracer.start_as_current_span("look up tok-9f8e7d6c5b"):
        pass
    if messages[-1].text == "break":
        raise OSError("no disk")
    return "fine"
"""
BROKEN = """\
cases:
  - {id: plain, input: break, expected_output: x}
  - {id: talk, turns: [{input: go}, {input: break}], graders: [{contains: fine}]}
"""
