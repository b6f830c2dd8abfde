from __future__ import annotations

from tests.run.project import (
    Project,
    case,
    cases,
)


def test_cost_adds_up_and_the_cap_stops(project: Project) -> None:
    project.suite(*cases(10, "cost 0.25"))
    done = project.run("run", "--json")
    assert (done.code, done.json["cost_usd"]) == (0, 2.5)
    project.forget_calls()
    done = project.run("run", "--json", "--max-cost", "0.7", "--concurrency", "1")
    assert (done.code, done.json["status"], done.json["cost_usd"]) == (3, "stopped", 0.75)
    assert len(project.calls()) == 3


def test_fail_fast(project: Project) -> None:
    project.suite(case("a"), case("b", "say no"), *cases(5))
    done = project.run("run", "--fail-fast", "--concurrency", "1")
    assert done.code == 1
    assert project.calls() == ["a", "b"]
    assert f"evalcase report {project.runs()[0].name} --case b\n" in done.out


def test_fail_fast_tells_an_error_from_a_failure(project: Project) -> None:
    project.suite(case("a", "raise no"), *cases(5))
    assert project.run("run", "--fail-fast", "--concurrency", "1").code == 3


def test_a_share_of_the_trials_may_be_enough(project: Project) -> None:
    project.add_to_agent(
        """

def second_time_right(question: Question):
    note("calls", question.case)
    return "no" if calls_of(question.case) == 1 else "ok"
"""
    )
    target = ("--target", "python:agent:second_time_right", "--concurrency", "1")
    for rate, code in ((0.75, 0), (0.8, 1)):
        project.forget_calls()
        project.suite(case("a", repeat={"times": 4, "pass_rate": rate}))
        done = project.run("run", "--json", *target)
        assert done.trials() == {"passed": 3, "failed": 1}
        assert (done.code, done.counts()) == (code, {"failed" if code else "passed": 1})


def test_fail_fast_waits_until_a_case_can_pass_no_more(project: Project) -> None:
    enough = {"times": 4, "pass_rate": 0.5}
    project.suite(case("a", "once", repeat=enough), case("b", "say no", repeat=enough), *cases(3))
    done = project.run("run", "--fail-fast", "--max-errors", "1", "--concurrency", "1", "--json")
    assert (done.code, done.trials()) == (1, {"passed": 3, "errored": 1, "failed": 3})
    assert project.calls() == ["a"] * 4 + ["b"] * 3


def test_fail_fast_puts_up_with_errors_that_are_allowed(project: Project) -> None:
    project.suite(case("a", "raise x"), case("b", "raise x"), *cases(3))
    done = project.run("run", "--fail-fast", "--max-errors", "1", "--concurrency", "1", "--json")
    assert (done.code, done.counts()) == (3, {"errored": 2})
    done = project.run("run", "--fail-fast", "--max-errors", "2", "--concurrency", "1", "--json")
    assert (done.code, done.counts()) == (1, {"passed": 3, "errored": 2})


def test_fail_fast_at_the_last_case_leaves_a_complete_run(project: Project) -> None:
    project.suite(case("a"), case("b", "say no"))
    done = project.run("run", "--fail-fast", "--concurrency", "1", "--json")
    assert (done.code, done.json["status"]) == (1, "completed")


def test_fail_under_is_about_cases(project: Project) -> None:
    project.add_to_agent(DICE)
    project.suite(case("a", repeat={"times": 6, "pass_rate": 0.3}))
    done = project.run("run", "--target", "python:agent:dice", "--fail-under", "0.9")
    assert done.code == 0
    assert "1 passed, pass rate 100.0%" in done.out
    assert "failed a" not in done.err


DICE = """
from itertools import count

thrown = count()

def dice(question):
    return "ok" if next(thrown) < 2 else "no"
"""


def test_what_a_stopped_run_lacks_is_counted(project: Project) -> None:
    project.suite(*cases(5, "cost 1"))
    done = project.run("run", "--max-cost", "2", "--concurrency", "1")
    assert "2 passed, 3 not run, pass rate 100.0% (34.2–100.0%)" in done.out
    name = project.runs()[0].name
    assert f"incomplete, 2 of 5 trials: evalcase resume {name} --max-cost 4\n" in (
        project.run("list").out
    )
    assert "3 not run" in project.run("report").out
    assert "not run" not in project.run("report", "--target", "agent").out
    done = project.run("resume", name, "--max-cost", "9", "--json")
    assert (done.json["not_run"], done.json["passed"]) == (0, 5)


def test_fail_fast_within_a_repeated_case_says_what_is_next(project: Project) -> None:
    project.suite(case("a", "say no", repeat=3), *cases(2))
    done = project.run("run", "--fail-fast", "--concurrency", "1")
    assert done.code == 1
    assert "1 unfinished, 2 not run" in done.out
    assert f"next     evalcase report {project.runs()[0].name}\n" in done.out
