from __future__ import annotations

import re

import pytest

from tests.cli.reported import trials
from tests.run.project import Project, case

CALL = {"tool": "refund", "input": {"order": "A-1"}}
CALLS = [{"role": "assistant", "tool_calls": [CALL]}]
COIN = """
def coin(question: Question):
    note("calls", question.case)
    return "ok" if len(calls()) % 3 == 1 else "no"


def calls():
    return (HERE / "calls").read_text().split()


def caller(question: Question):
    if question.text == "call":
        return {"messages": [{"role": "assistant", "content": None, "tool_calls": [
            {"tool": "refund", "input": {"order": "A-1", "verbose": True}}]}]}
    return question.text


def polite(text):
    return "please" in text
"""


@pytest.fixture
def agents(project: Project) -> Project:
    """A project with an agent that tosses a coin, one that calls tools, and a strict grader."""
    project.add_to_agent(COIN)
    return project


# What a person sees of a trial.


def test_the_summary_shows_what_was_asked_expected_and_said(agents: Project) -> None:
    agents.suite(
        {"id": "text", "input": "No.", "expected_output": CALLS},
        {"id": "called", "input": "call", "expected_output": "It is done."},
        {"id": "rude", "input": "Now!", "expected_output": "Now!",
         "graders": ["python:agent:polite"]},
        target="python:agent:caller",
    )  # fmt: skip
    done = agents.run("run")
    assert done.code == 1
    assert done.out.splitlines()[:16] == [
        "failed s.eval.yaml: text",
        "  input     No.",
        "  expected            │ got",
        '  refund(order="A-1") │ (no tool calls)',
        "  answer    No.",
        "",
        "failed s.eval.yaml: called",
        "  input     call",
        "  expected    │ got",
        "  It is done. │ (no text)",
        '  calls     refund(order="A-1", verbose=true)',
        "",
        "failed s.eval.yaml: rude",
        "  input     Now!",
        "  python:agent:polite: the function returned False (score 0)",
        "  expected  Now!",
    ]
    assert done.out.splitlines()[16] == "  answer    Now!"
    assert "(empty)" not in done.out


def test_repeats_are_folded_and_cases_are_what_is_counted(agents: Project) -> None:
    agents.suite(
        case("coin", repeat={"times": 6, "pass_rate": 0.3}), case("toss", repeat=3), case("once"),
        target="python:agent:coin",
    )  # fmt: skip
    done = agents.run("run", "--concurrency", "1", "--fail-under", "0.6")
    assert done.code == 0, "two of three cases passed"
    assert "         coin: 2 of 6 passed, 30% needed: passed\n" in done.out
    assert "failed s.eval.yaml: toss (1 of 3 passed, all needed)\n" in done.out
    assert "2 passed, 1 failed, pass rate 66.7% (20.8–93.9%)" in done.out
    assert "trials   10 in all, 4 passed, 6 failed\n" in done.out
    named = [line for line in done.err.splitlines() if line.startswith("failed")]
    assert len(named) == 1, "a case that passes is not named as failed"
    assert named[0].startswith("failed toss (1 of 3 passed, all needed): ")
    (row,) = agents.run("list").out.splitlines()[1:]
    assert row.split()[2:5] == ["3", "66.7%", "20.8–93.9%"]


def test_one_case_in_full(agents: Project) -> None:
    agents.suite(
        {"id": "both", "input": [{"role": "system", "content": "Be brief."},
                                 {"role": "user", "content": "call"}],
         "expected_output": "It is done.", "tags": ["money"], "metadata": {"topic": "refunds"}},
        case("other"),
        target="python:agent:caller",
    )  # fmt: skip
    agents.run("run", "--quiet")
    done = agents.run("report", "--case", "both")
    assert done.code == 0
    lines = [re.sub(r"\d+\.\d\d s", "0.01 s", line) for line in done.out.splitlines()]
    assert lines == [
        "s.eval.yaml: both",
        '  metadata  {"topic": "refunds"}',
        '  tags      ["money"]',
        "input",
        "  system    Be brief.",
        "  user      call",
        "expected output",
        "  assistant It is done.",
        "",
        "failed at python:agent:caller, score 0.00, 0.01 s",
        "  answer",
        '    assistant refund(order="A-1", verbose=true)',
        "  failed 0.00 by expected",
        '    expected "It is done.", got no text, but a tool call: refund(order="A-1",',
        "    verbose=true)",
        "    expected    │ got",
        "    It is done. │ (no text)",
    ]


def test_one_case_shows_every_target_and_repeat_with_its_attempts(project: Project) -> None:
    project.suite(case("busy", "later 1", repeat=2), targets=["agent", "other"])
    project.run("run", "--quiet", "--retries", "2", "--concurrency", "1")
    lines = project.run("report", "--case", "busy").out.splitlines()
    heads = [line for line in lines if line.startswith("passed at")]
    assert heads == [
        "passed at agent (2 of 2 passed, all needed)", "passed at other (2 of 2 passed, all needed)"
    ]  # fmt: skip
    assert sum("2 attempts" in line for line in lines) == 1
    assert sum("attempt 1 http: busy" in line for line in lines) == 1
    assert sum("in trial 2" in line for line in lines) == 2


def test_what_a_judge_took_is_told_apart_from_the_answer(agents: Project) -> None:
    agents.add_to_agent(
        """
def judging(question: Question):
    reply = {"criteria": {"criteria": {"reason": "fine", "verdict": "met"}}}
    message = {"role": "assistant", "content": json.dumps(reply)}
    usage = {"input_tokens": 90, "output_tokens": 9}
    return {"messages": [message], "cost_usd": 0.25, "usage": usage}
""".replace("def judging", "import json\n\n\ndef judging")
    )
    agents.configure('[judge]\ntarget = "python:agent:judging"\n')
    agents.suite({"id": "a", "input": "say ok", "criteria": "Is fine."}, target="echo")
    agents.run("run")
    (trial,) = trials(agents.run("report", "--format", "jsonl"))
    (grade,) = trial["grades"]
    assert grade["asked"] >= 1
    assert grade["cost_usd"] == 0.25 * grade["asked"]
    assert trial["cost_usd"] is None
    assert "tokens in" in agents.run("report", "--case", "a").out


QUIET = """
import sys
print("loading config", file=sys.stderr)
print("Error: the model file is empty", file=sys.stderr)
print(*sys.argv[1:])
"""


def test_what_a_program_wrote_beside_an_answer_without_text_is_kept_and_shown(
    project: Project,
) -> None:
    (project.path / "quiet.py").write_text(QUIET)
    project.configure(
        '[targets.quiet]\nkind = "command"\ncommand = ["python3", "quiet.py"]\n'
        '[targets.loud]\nkind = "command"\ncommand = ["python3", "quiet.py", "no JSON"]\n'
        'output = "json"\n'
        '[targets.well]\nkind = "command"\ncommand = ["python3", "quiet.py", "a word"]\n'
    )
    project.suite({"id": "a", "input": "hi", "expected_output": "x"})
    done = project.run_process("run", "--target", "quiet")
    assert done.out.splitlines()[:6] == [
        "failed s.eval.yaml: a",
        "  input     hi",
        "  expected   │ got",
        "  x          │ (empty)",
        "  stderr │ loading config",
        "         │ Error: the model file is empty",
    ]
    shown = project.run("report", "--case", "a").out
    assert "  stderr    loading config\n            Error: the model file is empty\n" in shown
    unread = project.run_process("run", "--target", "loud").out
    assert "the output is not JSON" in unread
    assert "  output │ no JSON\n  stderr │ loading config\n" in unread
    assert project.rows()[0]["failure"]["details"]["stderr"].startswith("loading config")
    project.run_process("run", "--target", "well")
    assert "stderr" not in project.rows()[0]["answer"], "its answer says enough"


def test_what_a_program_wrote_is_scrubbed_without_a_word_on_the_answer(project: Project) -> None:
    (project.path / "quiet.py").write_text(
        "import os, sys\nprint('Error: bad key', os.environ['API_KEY'], file=sys.stderr)\nprint()\n"
    )
    target = '[targets.quiet]\nkind = "command"\ncommand = ["python3", "quiet.py"]\n'
    project.configure(f'secrets = ["API_KEY"]\n{target}')
    project.suite({"id": "a", "input": "hi", "expected_output": "x"})
    project.run_process("run", "--target", "quiet", env={"API_KEY": "sk-aB3dE6gH9jK2mN5pQ8"})
    answer = project.rows()[0]["answer"]
    assert answer["stderr"].startswith("Error: bad key ")
    assert "aB3dE6" not in answer["stderr"]
    assert "scrubbed" not in answer
