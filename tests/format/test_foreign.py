"""A file of another tool gets one diagnostic that names it, and a file of ours never does."""

import json
from pathlib import Path

import pytest

import evalcase
from evalcase.config.catalogue import Catalogue
from evalcase.format.load import load_text

CORPUS = Path(__file__).parent.parent / "corpus"

PROMPTFOO = """\
prompts: ['Say {{word}}']
providers: [openai:gpt-4]
tests:
  - vars: {word: hi}
    assert: [{type: contains, value: hi}]
  - vars: {word: ho}
    assert: [{type: llm-rubric, value: is polite}]
"""
AGENTV = """\
prompts: ["{{ input }}"]
tests:
  - id: a
    vars: {input: q, expected_output: x}
    assert: [Is polite]
"""
WORKSPACE = """\
environment: {type: host}
tests:
  - {id: a, criteria: Is kind., input: q, assertions: [{type: llm-grader, prompt: x}]}
  - {id: b, input: r, assertions: [{type: execution-metrics}]}
"""
PYDANTIC = """\
name: s
cases:
  - {name: a, inputs: q, expected_output: x}
  - {name: b, inputs: {a: 1}}
evaluators: [EqualsExpected]
"""

FOREIGN = {
    "promptfoo": ("promptfoo", "a.yaml", PROMPTFOO),
    "promptfoo without tests": (
        "promptfoo", "a.yaml", "prompts: [file://p.txt]\nproviders: [openai:gpt-4]\n"
    ),
    "promptfoo, a list": ("promptfoo", "a.yaml", "- vars: {word: hi}\n- vars: {word: ho}\n"),
    "AgentV": ("AgentV", "a.yaml", AGENTV),
    "AgentV with an environment": ("AgentV", "a.yaml", WORKSPACE),
    "promptfoo with a variable called input": (
        "promptfoo", "a.yaml", "prompts: ['{{input}}']\ntests: [{vars: {input: q}}]\n"
    ),
    "tau-bench": (
        "tau-bench", "a.json", '[{"id": "1", "user_scenario": {"instructions": "You call."}}]'
    ),
    "tau-bench, a mapping": ("tau-bench", "a.json", '{"tasks": [{"user_scenario": {}}]}'),
    "tau-bench, its first shape": ("tau-bench", "a.json", '[{"instruction": "Go", "actions": []}]'),
    "DeepEval, a scenario": ("DeepEval", "a.json", '[{"scenario": "A user calls."}]'),
    "pydantic-evals": ("pydantic-evals", "a.yaml", PYDANTIC),
    "Inspect, JSONL": (
        "Inspect", "a.jsonl",
        '{"input": "Where?", "target": "bathtub"}\n{"input": "And now?", "target": "fridge"}\n',
    ),
    "Inspect, JSON": (
        "Inspect", "a.json",
        '[{"input": "Where?", "target": "in the bathtub"}, {"input": "Now?", "target": "fridge"}]',
    ),
    "Inspect with choices": (
        "Inspect", "a.jsonl", '{"input": "Where?", "choices": ["a", "b"], "target": "A"}\n'
    ),
    "OpenAI evals": (
        "OpenAI evals", "a.jsonl",
        '{"input": [{"role": "user", "content": "q"}], "ideal": "x"}\n' * 3,
    ),
    "fine-tuning": (
        "fine-tuning", "a.jsonl",
        '{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]}\n'
        * 3,
    ),
    "older fine-tuning": ("fine-tuning", "a.jsonl", '{"prompt": "q", "completion": "x"}\n' * 3),
}  # fmt: skip


@pytest.mark.parametrize(("tool", "name", "text"), FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("configured", [True, False], ids=["configured", "not configured"])
def test_a_foreign_file_is_named_once(
    tmp_path: Path, tool: str, name: str, text: str, configured: bool
) -> None:
    if configured:
        (tmp_path / "evalcase.toml").write_text('target = "echo"\n')
    (tmp_path / name).write_text(text)
    problems = evalcase.check([tmp_path / name], root=tmp_path)
    assert [problem.code for problem in problems] == ["foreign-file"], problems
    assert f"a file for {tool}," in problems[0].message
    assert problems[0].line is not None
    assert problems[0].hint is not None


OURS = {
    "targets that nobody defines": "- {input: q, target: a}\n- {input: r, target: a}\n",
    "one target that nobody defines": "- {input: q, target: a}\n",
    "targets and expectations": (
        "- {input: q, target: a, expected_output: x}\n- {input: r, target: b, expected_output: y}\n"
    ),
    "graders for all": (
        "graders: [expected]\ncases:\n- {input: q, target: a}\n- {input: r, target: b}\n"
    ),
    "a field that is misspelt": "- {inputs: q}\n- {input: r, expected_output: x}\n",
    "variables beside an input": "- {input: q, vars: {a: 1}, expected_output: x}\n",
    "data that looks like another's": "- input: {messages: [], vars: {}, prompt: a, ideal: b}\n",
}


@pytest.mark.parametrize("text", OURS.values(), ids=OURS)
def test_a_file_of_ours_is_never_called_foreign(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    codes = [problem.code for problem in evalcase.check([path], root=tmp_path)]
    assert "foreign-file" not in codes


def test_nothing_else_is_said_of_a_foreign_file() -> None:
    foreign = json.dumps({"messages": [{"role": "user", "content": "q"}]}) + "\n"
    text = foreign * 30 + '{"input": "q", "expcted_output": "x"}\n' + foreign
    (problem,) = load_text(text, "jsonl", Catalogue()).problems
    assert (problem.code, problem.line) == ("foreign-file", 1)
