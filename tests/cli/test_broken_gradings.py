"""A grading that was broken off: it is told as that wherever it is shown, decides nothing, and is
finished without anything being graded twice."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.run.project import KEYS, Project, case
from tests.store.rows import read_rows

GRADERS = """
def strict(text, case):
    note("graded", case.id)
    if str(len((HERE / "graded").read_text().split())) == os.environ.get("KILL_AT"):
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
    return False
"""
CASES = [case(f"c{number}", "say ok", expected_output="ok") for number in range(6)]
SO_FAR = "2 of 6 answers graded by grading 2, the others as before it"
STRICT = "python: agent:strict"


@pytest.fixture
def run(project: Project) -> Project:
    """A run of six cases that passed, one after the other."""
    project.add_to_agent(GRADERS)
    project.suite(*CASES)
    assert project.run("run", "--concurrency", "1").code == 0
    return project


def journal(project: Project) -> Path:
    (found,) = project.path.glob(".evalcase/runs/*/journal.jsonl")
    return found


def rows(project: Project, kind: str) -> list[dict[str, Any]]:
    return [row for _, row in read_rows(str(journal(project))) if row["type"] == kind]


def kill(project: Project, *words: str) -> None:
    """Have a command killed in its third grading."""
    env = {"KILL_AT": "3", "SIGNAL": str(int(signal.SIGKILL))}
    assert project.run_process(*words, env=env).code == -signal.SIGKILL


def break_off(project: Project, *words: str, after: int = 2) -> None:
    """What a kill leaves of a grading after so many answers."""
    project.run(*words)
    left, graded = b"", 0
    for line in journal(project).read_bytes().splitlines(keepends=True):
        graded += line.startswith(b'{"type":"regraded"')
        if graded > after:
            break
        left += line
    journal(project).write_bytes(left)


def told(project: Project, name: str) -> dict[str, Any]:
    """What is said of a run for programs: the same by both commands."""
    (listed,) = json.loads(project.run("list", name, "--json").out)
    reported = json.loads(project.run("report", name, "--format", "json").out)
    same = KEYS - {"figures"}
    assert {key: listed[key] for key in same} == {key: reported[key] for key in same}
    return {key: listed[key] for key in same}


def test_after_a_kill_it_is_no_verdict_of_the_run(run: Project) -> None:
    kill(run, "grade", "latest", "--grader", STRICT)
    seen = told(run, "latest")
    assert (seen["status"], seen["passed"], seen["failed"]) == ("incomplete", 4, 2)
    by = seen["grading"]
    assert (by["number"], by["complete"], by["graded"], by["answers"]) == (2, False, 2, 6)
    report = run.run("report", "latest").out
    assert f"stopped killed, or still running, with {SO_FAR}" in " ".join(report.split())
    assert "next     evalcase resume" in report
    assert f"incomplete, {SO_FAR}: evalcase resume" in run.run("list").out
    assert f"not complete: {SO_FAR}" in run.run("report", "latest", "--case", "c5").out
    assert told(run, "latest@1")["status"] == "completed"


@pytest.mark.parametrize("sides", [("latest@1", "latest@2"), ("latest@2", "latest@3")])
def test_no_gate_is_met_by_it(run: Project, sides: tuple[str, str]) -> None:
    break_off(run, "grade", "latest", "--grader", "contains: x", after=0)
    run.run("grade", "latest", "--grader", "contains: o")
    done = run.run("compare", *sides, "--fail-on", "broken")
    assert done.code == 3
    assert "0 of 6 answers graded by grading 2" in " ".join(done.out.split())


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--failed-of", "latest"),
        ("run", "--stop", "likely", "--against", "latest"),
        ("grade", "latest@2", "--recorded"),
    ],
)
def test_nothing_rests_on_it(run: Project, words: tuple[str, ...]) -> None:
    break_off(run, "grade", "latest", "--grader", "contains: x")
    done = run.run(*words)
    assert (done.code, done.out) == (2, "")
    assert f"was interrupted ({SO_FAR})" in done.err


def test_resume_finishes_it_and_grades_nothing_twice(run: Project) -> None:
    asked = run.calls()
    kill(run, "grade", "latest", "--grader", STRICT)
    assert run.run("resume").code == 2  # the journal has no seal, and names code
    done = run.run("resume", "latest", "--trust")
    assert (done.code, run.calls()) == (1, asked)
    assert "grading 2 was interrupted and continues: 2 of 6 answers are graded" in done.err
    # The third was under way when it was killed.
    assert run.calls("graded") == ["c0", "c1", "c2", "c2", "c3", "c4", "c5"]
    seen = told(run, "latest")
    assert (seen["status"], seen["failed"], seen["grading"]["graded"]) == ("completed", 6, 6)
    assert seen["grading"]["of"] == 2
    assert {row["grading"] for row in rows(run, "regraded")} == {2}
