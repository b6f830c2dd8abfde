import re
import shlex

import pytest

from tests.cli.reported import next_of, trials
from tests.run.project import Project, case, cases

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
    (row,) = agents.run("list").out.splitlines()[1:]
    assert row.split()[2:5] == ["3", "66.7%", "1"]


def test_trials_that_errored_in_a_case_that_passed_are_told(project: Project) -> None:
    project.suite(case("shaky", "once", repeat={"times": 2, "pass_rate": 0.5}))
    done = project.run("run", "--concurrency", "1")
    assert done.code == 3
    assert "though a trial errored: ValueError: the first time" in " ".join(done.out.split())
    assert "--retry-errored" in done.out


def test_a_case_that_stopped_the_run_is_shown_though_it_is_undecided(project: Project) -> None:
    project.suite(case("bad", "say no", repeat=3))
    done = project.run("run", "--fail-fast", "--concurrency", "1")
    assert done.code == 1
    said = "unfinished s.eval.yaml: bad (0 of 3 passed, all needed, 2 without a result)\n"
    assert said in done.out
    assert "1 unfinished" in done.out


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
        '    expected "It is done.", got no text, but tool calls: refund(order="A-1",',
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


def test_each_turn_that_failed_is_shown_with_what_was_said_in_it(agents: Project) -> None:
    agents.add_to_agent("def count(messages):\n    return str(len(messages))\n")
    turns = [
        {"input": "hi", "expected_output": "hello"},
        {"input": "so", "expected_output": "3"},
        {"input": "bye", "graders": [{"contains": "farewell"}]},
    ]
    agents.suite({"id": "t", "turns": turns}, target="python:agent:count")
    assert agents.run("run").out.splitlines()[:8] == [
        "failed s.eval.yaml: t",
        "  turn 1    hi",
        "  expected   │ got",
        "  hello      │ 1",
        "  turn 3    bye",
        '  contains: "farewell" not found in "5" (score 0)',
        "  answer    5",
        "",
    ]


def test_a_mean_below_the_threshold_is_told_with_its_sum(agents: Project) -> None:
    graders = [{"contains": "No"}, {"type": "contains", "value": "yes", "weight": 3}]
    agents.suite(
        {"id": "w", "input": "No.", "threshold": 0.8, "graders": graders},
        {"id": "near", "input": "No.", "threshold": 0.75,
         "graders": ["python:agent:nearly", "python:agent:nearly"]},
        {"id": "must", "input": "No.", "threshold": 0.2,
         "graders": [{"contains": "No"}, {"type": "equals", "value": "x", "required": True}]},
        target="python:agent:caller",
    )  # fmt: skip
    agents.add_to_agent("def nearly(answer):\n    return 0.7499\n")
    out = agents.run("run").out
    assert "  mean      0.25 of 0.8 needed\n" in out
    assert "  mean      0.7499 of 0.75 needed\n" in out
    shown = agents.run("report", "--case", "w").out
    assert "  mean      0.25 of 0.8 needed\n" in shown
    said = "  mean      0.50 of 0.2 needed; `equals` is required and failed\n"
    assert said in out


def test_an_input_is_never_left_blank(agents: Project) -> None:
    agents.suite(
        {"id": "blank", "input": "", "expected_output": "x"},
        {"id": "system", "input": [{"role": "system", "content": "Begin."}],
         "expected_output": "x"},
        target="python:agent:caller",
    )  # fmt: skip
    out = agents.run("run").out
    assert "failed s.eval.yaml: blank\n  input     (empty)\n" in out
    assert "failed s.eval.yaml: system\n  system    Begin.\n" in out


# Report next


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("say ok", [], []),
        ("say no", [], ["report", "--case", "one"]),
        ("say no", ["--fail-fast"], ["report", "--case", "one"]),
        ("raise x", [], ["resume", "--retry-errored"]),
        ("raise x", ["--fail-fast"], ["resume", "--retry-errored"]),
    ],
)
def test_the_next_command_is_the_one_that_helps(
    project: Project, text: str, options: list[str], words: list[str]
) -> None:
    project.suite(case("one", text), case("two"))
    done = project.run("run", "--concurrency", "1", *options)
    assert next_of(done) == words
    assert next_of(project.run("report")) == words


def test_after_a_cap_the_next_command_raises_it_and_does_not_stop_at_once(
    project: Project,
) -> None:
    project.suite(*(case(f"c{number}", "cost 0.3") for number in range(4)))
    done = project.run("run", "--max-cost", "0.5", "--concurrency", "1")
    assert done.code == 3
    assert next_of(done) == ["resume", "--max-cost", "1.2"]
    assert next_of(project.run("report")) == ["resume", "--max-cost", "1.2"]
    again = project.run("resume", "--max-cost", "1.2")
    assert "pass rate 100.0%" in again.out


def test_an_interrupted_run_is_shown_as_far_as_it_came(project: Project) -> None:
    project.suite(*cases(3), case("four", repeat=2))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(4)
    done = project.run("report")
    assert done.code == 0
    assert "3 passed, 1 unfinished, pass rate 100.0% (43.9–100.0%)\n" in done.out, (
        "how long it took is unknown"
    )
    assert "stopped  killed, or still running, with 4 of 5 trials finished and stored" in done.out
    assert next_of(done) == ["resume"]
    rows = trials(project.run("report", "--format", "jsonl", "--verdict", "unfinished"))
    assert [(row["case"], row["case_verdict"]) for row in rows] == [("four", None)]


@pytest.mark.parametrize("folder", [[], ["--runs-dir", "else where"]])
def test_what_to_do_next_is_said_of_the_grading_that_is_shown(
    project: Project, folder: list[str]
) -> None:
    project.suite(case("one", "say yes"))
    project.run("run", "--quiet", *folder)
    project.suite({"id": "one", "input": "say yes", "expected_output": "yes"})
    assert project.run("resume", "latest", "--quiet", *folder).code == 0
    first = project.run("report", "latest@1", *folder)
    (line,) = [line for line in first.out.splitlines() if line.startswith("next ")]
    command, *arguments = shlex.split(line.removeprefix("next "))
    assert (command, arguments[1].partition("@")[2]) == ("evalcase", "1")
    assert "failed" in project.run(*arguments).out
