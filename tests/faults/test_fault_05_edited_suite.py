from __future__ import annotations

import pytest

from tests.run.project import Project, case, cases


def unfinished(project: Project) -> None:
    """A run of which one trial is missing."""
    project.suite(case("a"), case("b"), case("c"))
    project.run("run", "--quiet", "--concurrency", "1")
    journal = project.runs()[0] / "journal.jsonl"
    rows = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(rows[:2]))
    assert project.verdicts() == {"a": "passed", "b": "passed"}
    project.forget_calls()


def test_fault_05_a_case_edited_before_resume_is_run_again_and_said(project: Project) -> None:
    unfinished(project)
    project.suite(case("a"), case("b", "say no"), case("c"))
    done = project.run("resume")
    assert done.code == 1
    assert "case b was changed since it was run: it is run again" in done.err
    assert sorted(project.calls()) == ["b", "c"]
    assert project.verdicts() == {"a": "passed", "b": "failed", "c": "passed"}


def test_fault_05_what_can_not_change_a_result_makes_nothing_stale(project: Project) -> None:
    unfinished(project)
    project.suite(case("c"), case("b", tags=["new"]), case("a", description="first"))
    assert project.run("resume").code == 0
    assert project.calls() == ["c"]


def test_fault_05_a_case_that_is_gone_is_said_and_keeps_its_result(project: Project) -> None:
    unfinished(project)
    project.suite(case("a"), case("c"))
    done = project.run("resume")
    assert (done.code, project.calls()) == (0, ["c"])
    assert "no longer part of the suites" in done.err
    assert project.verdicts()["b"] == "passed"


@pytest.mark.parametrize("what", ["deleted", "invalid"])
def test_fault_05_a_suite_that_is_gone_or_invalid_is_not_resumed(
    project: Project, what: str
) -> None:
    unfinished(project)
    suite = project.path / "s.eval.yaml"
    before = suite.read_bytes()
    journal = (project.runs()[0] / "journal.jsonl").read_bytes()
    if what == "deleted":
        suite.unlink()
    else:
        project.suite(*cases(2), {"id": "c", "inptu": "Hi"})
    done = project.run("resume")
    assert (done.code, project.calls()) == (2, [])
    assert (project.runs()[0] / "journal.jsonl").read_bytes() == journal
    suite.write_bytes(before)
    assert project.run("resume").code == 0
    assert project.calls() == ["c"]


def test_fault_05_a_grader_or_an_expectation_that_changed_makes_a_result_stale(
    project: Project,
) -> None:
    unfinished(project)
    project.suite(case("a", threshold=0.5), case("b"), {**case("c"), "expected_output": "no"})
    assert project.run("resume").code == 1
    assert sorted(project.calls()) == ["a", "c"]


@pytest.mark.parametrize(
    "part", [{"type": "file", "path": "a.txt"}, {"type": "image", "path": "a.txt"}]
)
def test_fault_05_a_file_that_a_case_refers_to_is_edited(
    project: Project, part: dict[str, str]
) -> None:
    content = [{"type": "text", "text": "say ok"}, part]
    project.add_to_agent("def reads(q: Question):\n    note('calls', q.case)\n    return 'ok'\n")
    project.suite(
        {"id": "a", "input": [{"role": "user", "content": content}], "expected_output": "ok"},
        case("b"),
    )
    (project.path / "a.txt").write_text("one")
    project.run("run", "--target", "python:agent:reads")
    project.forget_calls()
    run = project.runs()[0].name
    project.run("resume", run)
    assert project.calls() == []
    (project.path / "a.txt").write_text("two")
    done = project.run("resume", run, "--json")
    assert (project.calls(), done.counts()) == (["a"], {"passed": 2})
    assert "case a was changed since it was run" in done.err
