"""A record stands alone: every form of a report is the same once the suites are gone."""

from __future__ import annotations

import json
import shutil

import pytest

from evalcase.report.formats import FORMS
from tests.run.project import Project, case, cases

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


def test_a_selection_has_its_lines(varied: Project) -> None:
    varied.run("run", "--case", "bad", "--case", "r1")
    before = reports(varied)
    assert lined(before["junit"]) == {"evals/words.eval.yaml:7", "evals/rows.eval.jsonl:3"}
    kept = (varied.runs()[-1] / "lines.jsonl").read_text().splitlines()
    assert [json.loads(line)[1:] for line in kept[1:]] == [["r1", 3], ["bad", 7]]
    delete_suites(varied)
    assert reports(varied) == before


def test_a_run_that_was_not_completed_has_them_too(project: Project) -> None:
    project.suite(case("first", "say no"), *cases(3))
    project.run("run", "--fail-fast", "--concurrency", "1")
    before = reports(project)
    delete_suites(project)
    assert reports(project) == before
    assert lined(before["junit"]) == {"s.eval.yaml:1"}


def test_jsonl_is_read_once_more_for_its_lines(project: Project) -> None:
    rows = [*cases(5), case("bad", "say no")]
    (project.path / "s.eval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    project.run("run")
    before = reports(project)
    assert lined(before["junit"]) == {"s.eval.jsonl:6"}
    delete_suites(project)
    assert reports(project) == before


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


@pytest.mark.parametrize(
    "by", [["--suite", "other.eval.yaml"], ["--grader", "contains: yes"], ["--recorded"]]
)
def test_grading_by_something_else_leaves_the_lines_alone(project: Project, by: list[str]) -> None:
    project.suite(case("a", "say no"))
    project.run("run")
    other = project.path / "other.eval.yaml"
    other.write_text("# one\n- {id: a, input: say no, expected_output: other}\n")
    assert project.run("grade", "latest", *by).code == 1
    before = reports(project)
    assert lined(before["junit"]) == {"s.eval.yaml:1"}
    delete_suites(project)
    assert reports(project) == before


@pytest.mark.parametrize("name", ["s.eval.yaml", "s.eval.jsonl"])
def test_a_suite_that_was_spoilt_while_it_was_run_has_no_lines(project: Project, name: str) -> None:
    project.add_to_agent(
        f"def spoil(text):\n    (HERE / {name!r}).write_text('[')\n    return 'no'\n"
    )
    (project.path / name).write_text(json.dumps(case("a", "say no")))
    done = project.run("run", "--target", "python:agent:spoil")
    assert (done.code, "changed while it was run" in done.out) == (3, True), done
    assert lined(reports(project)["junit"]) == set()


def test_shards_that_are_merged_bring_their_lines(project: Project) -> None:
    path = project.path / "s.eval.jsonl"
    rows = cases(6, "say no")
    path.write_text("\n" + "".join(json.dumps(row) + "\n" for row in rows))
    for number in (1, 2):
        project.run("run", "--shard", f"{number}/2", "--runs-dir", "shards")
    assert project.run("merge", "shards").code == 1
    before = reports(project)
    assert lined(before["junit"]) == {f"s.eval.jsonl:{number}" for number in range(2, 8)}
    delete_suites(project)
    assert reports(project) == before


def test_a_run_that_passed_keeps_no_lines(project: Project) -> None:
    project.suite(*cases(3))
    assert project.run("run").code == 0
    assert sorted(path.name for path in project.runs()[-1].iterdir()) == [
        "journal.jsonl", "run.json"
    ]  # fmt: skip


@pytest.mark.parametrize("spoilt", ["", "{", '{"suites": 3}\n', '{"suites": {}}\n["s", "a", 1]\n'])
def test_lines_that_are_lost_are_found_in_the_suite(project: Project, spoilt: str) -> None:
    """A run that was killed has none; and what is damaged says nothing."""
    project.suite(case("a", "say no"))
    project.run("run")
    before = reports(project)
    kept = project.runs()[-1] / "lines.jsonl"
    kept.write_text(spoilt)
    assert reports(project) == before
    kept.unlink()
    assert reports(project) == before
    delete_suites(project)
    assert lined(reports(project)["junit"]) == set()


def test_what_was_put_in_the_place_of_a_suite_has_no_lines(project: Project) -> None:
    path = project.suite(case("a", "say no"))
    project.run("run")
    path.unlink()
    path.mkdir()
    assert lined(reports(project)["junit"]) == set()
