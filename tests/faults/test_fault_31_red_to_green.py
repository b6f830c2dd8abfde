"""Resuming can't make a run look better than it is: no red run becomes green by it."""

from tests.run.project import Project, case, cases


def test_fault_31_errored_trials_are_found_without_a_name(project: Project) -> None:
    project.suite(case("one", "once"), case("two"))
    assert project.run("run", "--quiet").code == 3
    assert project.run("resume", "--quiet").code == 3
    assert project.calls().count("one") == 1
    done = project.run("resume", "--retry-errored", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 2})
    assert project.run("resume", "--retry-errored", "--quiet").code == 0


def test_fault_31_an_older_run_that_is_well_by_now_makes_no_newer_one_well(
    project: Project,
) -> None:
    project.suite(case("one", "once"))
    assert project.run("run", "--quiet").code == 3
    project.suite(case("one", "say no"))
    assert project.run("run", "--quiet").code == 1
    project.suite(case("one", "once"))
    done = project.run("resume", "--retry-errored", "--json")
    assert (done.code, done.counts()) == (1, {"passed": 1})
    assert project.runs()[-1].name in done.err
    older = project.runs()[0].name
    assert project.run("resume", older, "--quiet").code == 0


def test_fault_31_a_run_that_was_refused_is_not_made_up_for_by_the_one_before(
    project: Project,
) -> None:
    project.suite(case("one"))
    assert project.run("run", "--quiet").code == 0
    assert project.run("run", "--quiet", "--target", "nosuch").code == 2
    done = project.run("resume", "--retry-errored", "--quiet")
    assert (done.code, "refused" in done.err) == (2, True)
    assert project.run("run", "--quiet").code == 0
    assert project.run("resume", "--retry-errored", "--quiet").code == 0


def test_fault_31_a_run_that_was_killed_before_it_had_a_record_is_not_made_up_for(
    project: Project,
) -> None:
    project.suite(case("one"))
    assert project.run("run", "--quiet").code == 0
    (project.path / "oom.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nanswer = None\n"
    )
    assert project.run_process("run", "--quiet", "--target", "python:oom:answer").code == -9
    assert project.run("resume", "--retry-errored", "--quiet").code == 2


def test_fault_31_a_note_of_a_refusal_is_never_written_through_a_link(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    other = project.path / "other"
    other.write_text("mine")
    (project.runs()[0].parent / ".started").symlink_to(other)
    assert project.run("run", "--quiet", "--target", "nosuch").code == 2
    assert other.read_text() == "mine"


def test_fault_31_cases_that_were_planned_and_are_gone_keep_a_run_from_being_completed(
    project: Project,
) -> None:
    project.suite(*cases(5))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(2)
    project.suite(*cases(3))
    done = project.run("resume", "--json")
    assert (done.code, done.json["status"], done.counts()) == (3, "stopped", {"passed": 3})
    shown = project.run("resume").out
    assert "2 of 5 planned cases" in shown
    assert "next     evalcase report" in shown
    project.suite(*cases(5))
    assert project.run("resume", "--json").json["status"] == "completed"
