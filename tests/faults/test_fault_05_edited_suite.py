import json
from typing import Any

import pytest

from evalcase.store.index import read_index
from tests.run.project import Project, case, cases
from tests.store.rows import read_results


def unfinished(project: Project) -> None:
    """A run of which one trial is missing."""
    project.suite(case("a"), case("b"), case("c"))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(2)
    assert project.verdicts() == {"a": "passed", "b": "passed"}
    project.forget_calls()


def test_fault_05_a_case_edited_before_resume_is_run_again_and_said(project: Project) -> None:
    unfinished(project)
    project.suite(case("a"), case("b", "say no"), case("c"))
    done = project.run("resume")
    assert done.code == 1
    assert "case b changed since it was run: running it again" in done.err
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


def test_fault_05_an_expectation_that_changed_is_graded_again_and_no_target_is_asked(
    project: Project,
) -> None:
    unfinished(project)
    project.suite(case("a", threshold=0.5), {**case("b"), "expected_output": "no"}, case("c"))
    done = project.run("resume")
    assert (done.code, project.calls()) == (1, ["c"])
    assert "regrading stored answers" in done.err
    assert project.verdicts() == {"a": "passed", "b": "failed", "c": "passed"}


def test_fault_05_a_finished_run_is_graded_again_after_an_edit(project: Project) -> None:
    project.suite(case("a"), case("b"))
    project.run("run", "--quiet")
    project.forget_calls()
    run = project.runs()[0].name
    project.suite(case("a"), {**case("b"), "expected_output": "no"})
    assert project.run("resume", run).code == 1
    assert project.verdicts() == {"a": "passed", "b": "failed"}
    project.suite(case("a"), case("b"))
    assert project.run("resume", run).code == 0
    assert project.verdicts() == {"a": "passed", "b": "passed"}
    assert project.calls() == []
    journal = str(project.runs()[0] / "journal.jsonl")
    assert read_index(journal).gradings == 3
    firsts = {each.key.case: each.verdict for each in read_results(journal, upto=2)}
    assert firsts == {"a": "passed", "b": "failed"}


def test_fault_05_an_edited_grader_function_grades_again(project: Project) -> None:
    (project.path / "own.py").write_text("def fine(text):\n    return True\n")
    project.suite(case("a", graders=["python:own:fine"]))
    assert project.run("run", "--quiet").code == 0
    project.forget_calls()
    (project.path / "own.py").write_text("def fine(text):\n    return 'not at all'\n")
    assert project.run("resume", project.runs()[0].name).code == 1
    assert (project.verdicts(), project.calls()) == ({"a": "failed"}, [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"tags": ["lenient"]}, {"tags": ["strict"]}),
        ({"description": "lenient"}, {"description": "strict"}),
        ({"vars": {"how": "lenient"}}, {"vars": {"how": "strict"}}),
    ],
)
def test_fault_05_what_code_of_a_grader_sees_of_a_case_is_graded_by_anew(
    project: Project, before: dict[str, Any], after: dict[str, Any]
) -> None:
    code = "def fine(case):\n    return 'strict' not in str(case.to_dict())\n"
    (project.path / "own.py").write_text(code)
    graders = [{"any": ["python:own:fine"]}]
    project.suite(case("a", graders=graders, **before))
    assert project.run("run", "--quiet").code == 0
    project.forget_calls()
    project.suite(case("a", graders=graders, **after))
    assert project.run("resume").code == 1
    assert (project.verdicts(), project.calls()) == ({"a": "failed"}, [])


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
    assert "case a changed since it was run" in done.err


HALF = """
def half(question: Question):
    note("calls", question.case)
    return "ok" if len((HERE / "calls").read_text().split()) % 2 else "no"
"""
DECIDED = "the number of trials of a case, or how many must pass, changed"


def half_passed(project: Project) -> str:
    """A run of a case whose first and third trial of four passed. Return its id."""
    project.add_to_agent(HALF)
    project.suite(case("a", repeat=4))
    arguments = ("--target", "python:agent:half", "--concurrency", "1", "--quiet")
    assert project.run("run", *arguments).code == 1
    project.forget_calls()
    return project.runs()[0].name


def case_verdicts(project: Project, run: str) -> list[str]:
    rows = project.run("report", run, "--format", "jsonl").out.splitlines()
    return [json.loads(row)["case_verdict"] for row in rows]


@pytest.mark.parametrize("named", [True, False])
def test_fault_05_a_pass_rate_that_changed_is_a_grading_beside_the_one_before(
    project: Project, named: bool
) -> None:
    run = half_passed(project)
    project.suite(case("a", repeat={"times": 4, "pass_rate": 0.5}))
    done = project.run("resume", *[run] * named)
    assert (done.code, project.calls()) == (0, [])
    assert DECIDED in done.err
    assert "2 of 2, with the suite files at the time of `resume`" in done.out
    assert case_verdicts(project, run) == ["passed"] * 4
    assert case_verdicts(project, f"{run}@1") == ["failed"] * 4
    assert case_verdicts(project, f"{run}@2") == ["passed"] * 4
    again = project.run("resume", run)
    assert (again.code, DECIDED in again.err) == (0, False)
    assert read_index(str(project.runs()[0] / "journal.jsonl")).gradings == 2


def test_fault_05_more_trials_of_a_case_leave_the_verdict_that_it_had(project: Project) -> None:
    project.suite(case("a"))
    assert project.run("run", "--quiet").code == 0
    project.add_to_agent("def answer(question: Question):\n    return 'no'\n")
    project.suite(case("a", repeat=3))
    done = project.run("resume")
    assert (done.code, DECIDED in done.err) == (1, True)
    run = project.runs()[0].name
    assert case_verdicts(project, run) == ["failed"] * 3
    assert case_verdicts(project, f"{run}@1") == ["passed"]


BREAKS_ONCE = """
from pathlib import Path

def shaky(text):
    mark = Path(__file__).with_name("graded")
    if not mark.exists():
        mark.write_text("once")
        raise ValueError("not now")
    return True
"""


def test_fault_05_a_grader_that_broke_is_tried_again_and_no_target_is_asked(
    project: Project,
) -> None:
    (project.path / "own.py").write_text(BREAKS_ONCE)
    project.suite(case("a", graders=["python:own:shaky"]))
    assert project.run("run", "--quiet").code == 3
    project.forget_calls()
    run = project.runs()[0].name
    done = project.run("resume", run, "--retry-errored", "--json")
    assert (done.code, done.counts(), project.calls()) == (0, {"passed": 1}, [])
    assert project.run("resume", run, "--json").counts() == {"passed": 1}
    assert project.verdicts() == {"a": "passed"}


TURNS = """
def turned(question: Question):
    note("calls", question.case)
    return "no" if (HERE / "bad").exists() else "ok"
"""


def turned(project: Project, repeat: object, *arguments: str) -> tuple[int, dict[str, int]]:
    """Run or resume one case of an agent that may have turned bad."""
    project.suite(case("a", repeat=repeat))
    done = project.run(*arguments, "--json")
    again = project.run("resume", "latest", "--json")
    assert (again.code, again.counts()) == (done.code, done.counts()), "it says the same again"
    assert again.json["trials"] == done.json["trials"]
    return done.code, done.counts()


RUN = ("run", "--target", "python:agent:turned", "--concurrency", "1")


def test_fault_05_more_repeats_than_before_are_one_case_with_the_others(project: Project) -> None:
    project.add_to_agent(TURNS)
    assert turned(project, 3, *RUN) == (0, {"passed": 1})
    (project.path / "bad").touch()
    assert turned(project, 5, "resume", "latest") == (1, {"failed": 1})
    assert len(project.calls()) == 5


def test_fault_05_a_module_that_a_grader_imports_is_graded_by_anew(project: Project) -> None:
    (project.path / "helper.py").write_text("def ok(text):\n    return True\n")
    (project.path / "checks.py").write_text(
        "from helper import ok\n\ndef good(text):\n    return ok(text)\n"
    )
    project.suite(case("a"), graders=["python:checks:good"])
    assert project.run("run", "--quiet").code == 0
    project.forget_calls()
    (project.path / "helper.py").write_text("def ok(text):\n    return 'it is bad'\n")
    done = project.run("resume", "latest", "--json")
    assert (done.code, done.counts(), project.calls()) == (1, {"failed": 1}, [])
