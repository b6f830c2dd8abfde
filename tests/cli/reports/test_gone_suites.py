"""A report needs only the record. The lines of cases come from suites that are still the same."""

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


def report(project: Project, form: str = "junit") -> bytes:
    done = project.run("report", "--format", form, "-o", "out")
    assert done.code == 0, done
    return (project.path / "out").read_bytes()


def reports(project: Project) -> dict[str, bytes]:
    """Every form of a report of the newest run."""
    return {form: report(project, form) for form in FORMS}


def delete_suites(project: Project) -> None:
    shutil.rmtree(project.path / "evals", ignore_errors=True)
    for path in project.path.glob("*.eval.*"):
        path.unlink()


def lined(junit: bytes) -> set[str]:
    """The places that a report of JUnit names."""
    words = (word.rpartition(">")[2] for word in junit.decode().split())
    return {word.rstrip(":") for word in words if ".eval." in word and word.count(":") == 2}


def test_a_record_stands_alone(varied: Project) -> None:
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
    after = reports(varied)
    changed = {form for form in FORMS if before[form] != after[form]}
    assert changed == {"github", "junit"}, "only lines are missing"
    assert lined(after["junit"]) == set()
    assert after["junit"].count(b"<testcase") == before["junit"].count(b"<testcase")


def test_after_an_edit_the_lines_are_those_of_what_was_run_last(project: Project) -> None:
    path = project.path / "s.eval.yaml"
    path.write_text("- {id: a, input: say no, expected_output: ok}\n")
    project.run("run")
    path.write_text("# one\n# two\n- {id: a, input: say no, expected_output: other}\n")
    assert lined(report(project)) == set()
    for verb in ("resume", "grade"):
        assert project.run(verb, "latest").code == 1
        assert lined(report(project)) == {f"s.eval.yaml:{3 if verb == 'resume' else 4}"}
        path.write_text("# zero\n" + path.read_text())


def test_what_was_put_in_the_place_of_a_suite_has_no_lines(project: Project) -> None:
    path = project.suite(case("a", "say no"))
    project.run("run")
    path.unlink()
    path.mkdir()
    assert lined(report(project)) == set()
