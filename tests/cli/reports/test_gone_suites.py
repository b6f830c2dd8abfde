"""A record stands alone: every form of a report is the same once the suites are gone."""

from __future__ import annotations

import json
import shutil

import pytest

from evalcase.report.formats import FORMS
from tests.run.project import Project, case

COIN = """
def coin(question: Question):
    note("calls", question.case)
    return "ok" if len((HERE / "calls").read_text().split()) % 2 else "no"
"""
YAML = """
name: words
# a case of each verdict
cases:
  - {id: good, input: say ok, expected_output: ok}

  - id: bad
    input: say no
    expected_output: ok
  - {id: broken, input: raise it, expected_output: ok}
  - {id: later, input: say ok, expected_output: ok, skip: not now}
  - {id: open, input: say hi}
  - id: toss
    input: x
    expected_output: ok
    target: python:agent:coin
    repeat: {times: 4, pass_rate: 0.5}
  - id: many
    matrix: {word: [ok, no]}
    input: say {{word}}
    expected_output: ok
"""


@pytest.fixture
def varied(project: Project) -> Project:
    """Suites of every format, in a folder of their own."""
    project.add_to_agent(COIN)
    folder = project.path / "evals"
    folder.mkdir()
    (folder / "words.eval.yaml").write_text(YAML)
    (folder / "rows.eval.jsonl").write_text(
        "\n".join(["", *(json.dumps(case(f"r{n}", "say no")) for n in range(3)), ""])
    )
    (folder / "whole.eval.json").write_text(json.dumps([case("w", "say no")], indent=1))
    return project


def reports(project: Project, *more: str) -> dict[str, bytes]:
    """Every form of a report of the newest run; with one of a case, too."""
    written: dict[str, bytes] = {}
    for form in FORMS:
        done = project.run("report", "--format", form, "-o", f"out.{form}", *more)
        assert done.code == 0, done
        written[form] = (project.path / f"out.{form}").read_bytes()
    return written


def delete_suites(project: Project) -> None:
    shutil.rmtree(project.path / "evals", ignore_errors=True)
    for path in project.path.glob("*.eval.*"):
        path.unlink()


def lined(junit: bytes) -> set[str]:
    """The places that a report of JUnit names."""
    words = (word.rpartition(">")[2] for word in junit.decode().split())
    return {word.rstrip(":") for word in words if ".eval." in word and word.count(":") == 2}


def test_every_form_is_the_same_byte_for_byte(varied: Project) -> None:
    assert varied.run("run").code == 3
    before = reports(varied)
    assert lined(before["junit"]) == {
        "evals/words.eval.yaml:7", "evals/words.eval.yaml:10", "evals/words.eval.yaml:12",
        "evals/words.eval.yaml:13", "evals/words.eval.yaml:18", "evals/rows.eval.jsonl:2",
        "evals/rows.eval.jsonl:3", "evals/rows.eval.jsonl:4", "evals/whole.eval.json:2",
    }  # fmt: skip
    assert b"file=evals/rows.eval.jsonl,line=4," in before["github"]
    delete_suites(varied)
    (varied.path / "agent.py").unlink()
    assert reports(varied) == before


def test_after_an_edit_the_lines_are_those_of_what_was_run_last(project: Project) -> None:
    path = project.path / "s.eval.yaml"
    path.write_text("- {id: a, input: say no, expected_output: ok}\n")
    project.run("run")
    path.write_text("# one\n# two\n- {id: a, input: say no, expected_output: other}\n")
    edited = reports(project)
    assert lined(edited["junit"]) == set()
    for verb in ("resume", "grade"):
        assert project.run(verb, "latest").code == 1
        after = reports(project)
        assert lined(after["junit"]) == {f"s.eval.yaml:{3 if verb == 'resume' else 4}"}
        path.write_text("# zero\n" + path.read_text())
    delete_suites(project)
    assert reports(project) == after


@pytest.mark.parametrize("name", ["s.eval.yaml", "s.eval.jsonl"])
def test_a_suite_that_was_spoilt_while_it_was_run_has_no_lines(project: Project, name: str) -> None:
    project.add_to_agent(
        f"def spoil(text):\n    (HERE / {name!r}).write_text('[')\n    return 'no'\n"
    )
    (project.path / name).write_text(json.dumps(case("a", "say no")))
    done = project.run("run", "--target", "python:agent:spoil")
    assert (done.code, "changed while it was run" in done.out) == (3, True), done
    assert lined(reports(project)["junit"]) == set()
