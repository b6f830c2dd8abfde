"""What the exit code says, every form of a report says, too."""

from __future__ import annotations

import pytest

from tests.run.project import Project, case, cases


@pytest.fixture
def forgiving(project: Project) -> Project:
    """A project with a run whose two cases passed, although a trial of one errored."""
    project.suite(
        case("shaky", "once", repeat={"times": 3, "pass_rate": 0.6}), case("good"), name="e"
    )
    assert project.run("run", "--quiet", "--concurrency", "1").code == 3
    return project


def test_a_trial_that_errored_in_a_case_that_passed_is_said(forgiving: Project) -> None:
    assert "2 passed, 1 trial errored, pass rate" in forgiving.run("report").out
    assert "1 trial errored" in forgiving.run("list").out
    head = forgiving.run("report", "--format", "markdown").out.splitlines()[1]
    assert head == "### ⚠️ 2 of 2 cases passed (100.0%), 1 trial errored"
    said = forgiving.run("report", "--format", "github").out
    assert said.startswith("::warning ")
    assert "a trial errored; " in said
    assert "the first time" in said


def test_the_last_lines_say_why_the_exit_code_is_3(project: Project) -> None:
    project.suite(case("shaky", "once", repeat={"times": 3, "pass_rate": 0.6}))
    ended = project.run("run", "--quiet", "--concurrency", "1")
    assert (ended.code, "1 trial errored" in ended.out) == (3, True)


def test_a_part_of_a_run_is_no_word_on_all_of_it(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"))
    assert project.run("run").code == 1
    heads = {
        options: project.run("report", "--format", "markdown", *options).out.splitlines()[1]
        for options in [("--case", "good"), ("--target", "agent"), ("--verdict", "passed")]
    }
    assert list(heads.values()) == [
        "### a part of the run, case good: 1 of 1 cases passed (100.0%)",
        "### a part of the run, target agent: 1 of 2 cases passed (50.0%)",
        "### ❌ 1 of 2 cases passed (50.0%); shown: passed",
    ]


def test_a_mixed_run_is_mixed_in_every_form(project: Project) -> None:
    project.suite(*cases(3))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(1)
    project.add_to_agent("# another version")
    assert project.run("resume").code == 0
    for form in ("markdown", "junit", "github"):
        said = project.run("report", "--format", form).out
        assert "answers from before and after a change of" in said
    assert said.startswith("::notice title=evalcase%3A the run is mixed::")
