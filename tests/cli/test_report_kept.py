from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.reported import trials
from tests.run.project import Project, case, cases
from tests.store.rows import encode_row

# The report of a kept run.


def test_the_report_is_what_run_showed_also_when_its_suite_is_gone(project: Project) -> None:
    project.suite(
        case("good"), case("bad", "say no"), case("broken", "raise x"), case("off", skip="later"),
        case("three", "say no", repeat=3), case("none", expected_output=None),
    )  # fmt: skip
    shown = project.run("run").out
    (project.path / "s.eval.yaml").unlink()
    (project.path / "agent.py").unlink()
    for arguments in ([], ["latest"], [project.runs()[0].name], [str(project.runs()[0])]):
        done = project.run("report", *arguments)
        assert (done.code, done.out, done.err) == (0, shown, "")


def test_a_run_can_be_named_by_a_part_that_no_other_has(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    project.run("run", "--quiet")
    older, newer = (run.name for run in project.runs())
    for name, id in (("latest", newer), ("previous", older), (older[-6:], older)):
        (row,) = trials(project.run("report", name, "--format", "jsonl"))
        assert row["run"] == id


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("20261116-999999-zzzzzz", "there is no run `20261116-999999-zzzzzz` in"),
        ("nonsense", "there is no run `nonsense` in"),
        ("previous", "there is no previous run in"),
        ("latest@2", "has 1 grading: there is no 2"),
        ("latest@0", "has 1 grading: there is no 0"),
        ("./evals", "./evals is not a run: it has no run.json"),
    ],
)
def test_a_run_that_is_not_there_is_an_error_that_names_those_there_are(
    project: Project, name: str, said: str
) -> None:
    (project.path / "evals").mkdir()
    project.suite(case("one"))
    project.run("run", "--quiet")
    done = project.run("report", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    if "no run" in said and "/" not in name:
        hint = "" if name == "previous" else "it has "
        assert f"{hint}{project.runs()[0].name}" in done.err
    run = project.runs()[0].name
    assert f"the nearest is {run}" in project.run("report", f"{run}z").err


def test_an_earlier_grading_can_be_looked_at(project: Project) -> None:
    project.suite(case("one", "say yes"))
    project.run("run", "--quiet")
    project.suite({"id": "one", "input": "say yes", "expected_output": "yes"})
    assert project.run("resume", "latest", "--quiet").code == 0
    newest, first = project.run("report"), project.run("report", "latest@1")
    assert "1 passed" in newest.out
    assert "grading  2 of 2, with the suite files at the time of `resume`" in newest.out
    assert "1 failed" in first.out
    assert "grading  1 of 2, with the suite files at the start of the run" in first.out
    assert "  ok         │ yes" in first.out
    (row,) = trials(project.run("report", "latest@1", "--format", "jsonl"))
    assert (row["verdict"], row["expected_output"][0]["content"]) == ("failed", "ok")
    (row,) = trials(project.run("report", "--format", "jsonl"))
    assert (row["verdict"], row["expected_output"][0]["content"]) == ("passed", "yes")
    assert "grading 2 of 2, with the suite files" in project.run("list").out
    done = project.run("resume", "latest@1")
    assert (done.code, "not one of its gradings" in done.err) == (2, True)


def test_a_damaged_record_exits_3_with_the_line(project: Project) -> None:
    project.suite(*cases(3))
    project.run("run", "--quiet")
    journal = project.runs()[0] / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"passed", b"failed", 1)
    journal.write_bytes(b"".join(lines))
    for form in ("text", "json", "jsonl"):
        done = project.run("report", "--format", form)
        assert (done.code, done.out) == (3, "")
        assert "journal.jsonl:4: the record is damaged" in done.err


def test_a_record_of_a_stranger_is_data(project: Project, tmp_path: Path) -> None:
    """Whatever it says it is called, nothing of it becomes a command to copy."""
    project.suite(case("bad", "say no"))
    project.run("run", "--quiet")
    sent = shutil.copytree(project.runs()[0], tmp_path / "sent" / "from a friend")
    about = json.loads((sent / "run.json").read_text())
    about["id"] = "x; touch pwned"
    (sent / "run.json").write_text(json.dumps(about))
    done = project.run("report", "sent/from a friend")
    assert done.code == 0
    assert "touch pwned" not in done.out
    assert "next     evalcase report 'sent/from a friend' --case bad\n" in done.out


ODD: list[dict[str, Any]] = [
    {"role": "assistant", "content": 5, "tool_calls": None},
    {"role": "assistant", "content": [{"type": "image"}], "tool_calls": [{"tool": "\x1b[2J"}]},
    {"role": "\x1b[2J", "content": {"a": ["\x1b[2J"]}, "extra": "\u202e"},
    {
        "role": "tool",
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": "{"}}],
    },
]


def test_answers_and_details_of_any_shape_are_shown(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    journal = project.runs()[0] / "journal.jsonl"
    details: dict[str, Any] = {
        "calls": [5, {"expected": 5, "got": "\x1b[2J", "beyond": -3}], "expected": [1], "got": {},
        "where": 5, "note": ["x"], "other": {"deep": [[[[]]]]},
    }  # fmt: skip
    grade = {"grader": "expected", "score": 0.0, "passed": False, "reason": "", "details": details}
    row = {
        "type": "result", "suite": "gone.eval.yaml", "case": "\x1b[2J", "target": "agent",
        "repeat": 1, "question_hash": "", "verdict": "failed", "answer": {"messages": ODD},
        "grades": [grade],
    }  # fmt: skip
    journal.write_bytes(journal.read_bytes() + encode_row(row))
    for options in ([], ["--case", "\x1b[2J"]):
        done = project.run("report", *options)
        assert done.code == 0
        assert "\x1b" not in done.out
        assert "\u202e" not in done.out
    (found,) = trials(project.run("report", "--format", "jsonl", "--case", "\x1b[2J"))
    assert (found["input"], found["answer"]) == (None, ODD)


def test_a_failure_is_shown_without_our_own_frames(
    project: Project,
) -> None:
    code = "def answer(text):\n    raise ValueError('no ' + text)\n"
    (project.path / "broken.py").write_text(code)
    project.suite(case("one", "x"))
    project.run("run", "--quiet", "--target", "python:broken:answer")
    out = project.run("report", "--case", "one").out
    assert out.count(", line ") == 1, "only the frame in broken.py"
