"""`--processes N`: the same results as in one process, and a crash costs its own trial alone."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

import evalcase
from tests.run.project import Gate, Project, case, cases, finish


def verdicts(project: Project, *arguments: str) -> dict[str, Any]:
    done = project.run("run", "--json", *arguments)
    assert done.code in {0, 1, 3}, done
    return project.verdicts()


@pytest.mark.parametrize("engine", [["--processes", "2"], ["--engine", "processes"]])
def test_results_are_those_of_one_process(project: Project, engine: list[str]) -> None:
    project.suite(
        case("right"),
        case("wrong", "say no"),
        case("raised", "raise x"),
        case("cost", "cost 0.5"),
        case("again", "later 1"),
        case("skipped", skip="not now"),
        case("graded", graders=["python:agent:slow_grader"]),
        case("often", repeat={"times": 3, "pass_rate": 0.5}),
    )
    here = verdicts(project)
    known = [row["grades"] for row in project.rows() if "grades" in row]
    (project.path / "calls").unlink()
    assert verdicts(project, *engine) == here
    there = [row["grades"] for row in project.rows() if "grades" in row]
    assert sorted(map(_dump, there)) == sorted(map(_dump, known))
    assert project.calls().count("again") == 2


def _dump(grades: list[dict[str, Any]]) -> str:
    return json.dumps([{"weight": 1.0, **grade} for grade in grades], sort_keys=True)


def test_only_named_variables_reach_a_worker(dangerous: Project) -> None:
    dangerous.configure('secrets = ["A_SECRET"]\n[engine]\nkind = "processes"\nenv = ["NAMED"]\n')
    fields = {"graders": [{"contains": "PRIVATE=None NAMED=yes"}]}
    dangerous.suite({"id": "env", "input": "PRIVATE NAMED", **fields})
    env = {"PRIVATE": "no", "NAMED": "yes"}
    done = dangerous.run("run", "--json", "--target", "python:agent:told", env=env)
    assert (done.code, done.json["passed"]) == (0, 1)
    assert "said by the agent" in done.err


def test_a_secret_that_a_worker_loads_stays_there_and_is_graded(dangerous: Project) -> None:
    dangerous.configure('secrets = ["LOADED_KEY"]\n')
    dangerous.suite(
        {"id": "text", "input": "x", "graders": [{"contains": "98765432"}]},
        {"id": "code", "input": "x", "graders": ["python:agent:finds_key"]},
    )
    target = ["--target", "python:agent:loads_key"]
    done = dangerous.run("run", "--json", "--processes", "2", *target)
    assert (done.code, done.json["passed"]) == (0, 2)
    assert {row["answer"]["scrubbed"] for row in dangerous.rows()} == {True}
    journal = (dangerous.runs()[-1] / "journal.jsonl").read_text()
    assert "sk-98765432-loaded" not in journal + done.err


def test_what_a_grader_asks_is_asked_and_paid_by_the_run(dangerous: Project) -> None:
    dangerous.configure(
        'target = "agent"\n[targets.agent]\nkind = "python"\nfunction = "agent:answer"\n'
        '[targets.judge]\nkind = "python"\nfunction = "agent:judge"\n'
    )
    dangerous.suite(*[case(f"c{n}", graders=["python:agent:asks"]) for n in range(4)])
    done = dangerous.run("run", "--json", "--processes", "2")
    assert (done.code, done.json["passed"], done.json["grading_usd"]) == (0, 4, 1.0)
    assert len(dangerous.calls("judged")) == 4


def talk(id: str, last: str = "c") -> dict[str, Any]:
    """A conversation that only who remembers its first turns can pass."""
    return {"id": id, "turns": [
        {"input": "a", "expected_output": "a"},
        {"input": "b", "graders": [{"equals": "a b"}, "python:agent:of_two"]},
        {"input": last, "expected_output": f"a b {last}"},
    ], "graders": [{"contains": f"a b {last}"}]}  # fmt: skip


def test_a_conversation_stays_with_who_remembers_it(dangerous: Project) -> None:
    dangerous.add_to_agent("def of_two(text):\n    return text == 'a b'\n")
    dangerous.suite(*[talk(f"t{n}") for n in range(6)], talk("bad", "die"), talk("odd", "die once"))
    target = ["--target", "python:agent:Remembering"]
    (dangerous.path / "calls").touch()
    done = dangerous.run("run", "--json", "--processes", "2", *target)
    assert (done.json["passed"], done.json["errored"]) == (7, 1), done.err
    rows = {row["case"]: row for row in dangerous.rows()}
    assert "did nothing else: it exited with code 7" in rows["bad"]["failure"]["message"]
    assert dangerous.calls("turns").count("bad:3") in (2, 3)  # twice alone
    assert "is started again" in rows["odd"]["retried"][0]["message"]
    assert len(rows) == len(dangerous.rows()) == 8


def test_a_target_that_cannot_be_set_up_is_told_before_anything_runs(project: Project) -> None:
    project.add_to_agent("class Broken:\n    def open(self):\n        raise OSError('no disk')\n")
    project.suite(case("a"))
    done = project.run("run", "--processes", "2", "--target", "python:agent:Broken")
    assert done.code == 2
    assert "no disk" in done.err
    assert project.runs() == []


@pytest.mark.parametrize(
    ("config", "arguments", "said"),
    [
        ("", ["--engine", "procesess"], "did you mean `processes`"),
        ("", ["--engine", "ray", "--processes", "2"], "are two engines"),
        ("", ["--processes", "0"], "processes"),
        ('[engine]\nkind = "processes"\nworkers = 0\n', [], "workers"),
        ("[engine]\nworkers = 2\n", [], "kind"),
    ],
)
def test_wrong_engines_are_refused(
    project: Project, config: str, arguments: list[str], said: str
) -> None:
    project.configure(f'target = "python:agent:answer"\n{config}')
    project.suite(case("a"))
    done = project.run("run", *arguments)
    assert (done.code, project.calls()) == (2, [])
    assert said in done.err


def test_ctrl_c_finishes_what_is_under_way(project: Project, gate: Gate) -> None:
    project.suite(*cases(8, "gate"))
    process = project.start("run", "--processes", "2", "--concurrency", "2")
    gate.await_calls(2)
    process.send_signal(signal.SIGINT)
    gate.let_go(8)
    done = finish(process)
    assert done.code == 130
    assert 2 <= len(project.rows()) < 8
    assert project.run("resume", "--quiet").code == 0


def test_functions_of_a_program_are_refused(tmp_path: Path) -> None:
    suite = [evalcase.Case(id="a", input="x", expected_output="x")]
    with pytest.raises(evalcase.ConfigError, match="by name"):
        evalcase.evaluate(suite, lambda text: text, root=tmp_path, processes=2)


WHOLE = """
import os
def whole(messages):
    calls = [{"tool": "pay", "input": {}}] if len(messages) == 1 else []
    said = {"role": "assistant", "content": os.environ["LOADED_KEY"], "tool_calls": calls}
    return {"messages": [*messages, said]}
"""


@pytest.mark.parametrize("engine", [[], ["--processes", "2"]])
def test_what_was_given_is_left_out_before_secrets_are(project: Project, engine: list[str]) -> None:
    key = "sk-abcdef0123456789abcdef"
    project.configure('secrets = ["LOADED_KEY"]\n')
    project.add_to_agent(WHOLE)
    paid, seen = {"tool_calls": {"needed": {"pay": 1}}}, {"regex": "sk-[a-f0-9]+"}
    turns = [
        {"input": f"use {key}", "graders": [paid, seen]},
        {"input": "again", "graders": [paid]},
    ]
    project.suite(
        {"id": "talk", "turns": turns}, {"id": "one", "input": f"use {key}", "graders": [seen]}
    )
    target = ["--target", "python:agent:whole"]
    done = project.run("run", "--json", *target, *engine, env={"LOADED_KEY": key})
    assert (done.code, project.verdicts()) == (1, {"talk": "failed", "one": "passed"})
    failed = next(row for row in project.rows() if row.get("verdict") == "failed")
    grades = [grade["passed"] for grade in failed["grades"]]
    assert grades == [True, True, False]
