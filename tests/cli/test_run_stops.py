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


def test_fail_fast_puts_up_with_errors_that_are_allowed(project: Project) -> None:
    project.suite(case("a", "raise x"), case("b", "raise x"), *cases(3))
    done = project.run("run", "--fail-fast", "--max-errors", "1", "--concurrency", "1", "--json")
    assert (done.code, done.counts()) == (3, {"errored": 2})
    done = project.run("run", "--fail-fast", "--max-errors", "2", "--concurrency", "1", "--json")
    assert (done.code, done.counts()) == (1, {"passed": 3, "errored": 2})


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
