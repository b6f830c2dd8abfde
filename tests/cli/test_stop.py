import json
from typing import Any

import pytest

from tests.run.project import Done, Project, case, cases


def suite(project: Project, count: int, bad: int = 0) -> None:
    project.suite(
        *(
            {"id": f"c{number}", "input": "say no" if number < bad else "say ok",
             "expected_output": "ok"}
            for number in range(count)
        )
    )  # fmt: skip


def stop(project: Project, *arguments: str) -> Done:
    return project.run("run", "--concurrency", "1", "--json", *arguments)


def decision(project: Project) -> dict[str, Any]:
    """As the record has it."""
    last = (project.runs()[-1] / "journal.jsonl").read_text().splitlines()[-1]
    found: dict[str, Any] = json.loads(last)["decision"]
    return found


def test_a_run_ends_when_nothing_can_change_its_gate(project: Project) -> None:
    suite(project, 10)
    done = stop(project, "--fail-under", "0.5", "--stop", "certain")
    assert (done.code, len(project.calls())) == (0, 5)
    assert (done.json["status"], done.json["passed"], done.json["not_run"]) == ("stopped", 5, 5)
    assert done.json["decision"] == decision(project)
    seed = project.options()["selection"]["seed"]
    assert decision(project) == {
        "rule": "certain", "outcome": "met", "seed": seed, "seen": 5, "cases": 10, "low": 0.5,
        "high": 1.0, "fail_under": 0.5,
    }  # fmt: skip


def test_a_gate_that_can_not_be_met_is_1(project: Project) -> None:
    suite(project, 10, bad=10)
    done = stop(project, "--fail-under", "0.5", "--stop", "certain")
    assert (done.code, done.json["failed"]) == (1, 6)


def test_likely_saves_more(project: Project) -> None:
    suite(project, 60)
    done = stop(project, "--fail-under", "0.5", "--stop", "likely", "--seed", "7")
    assert done.code == 0
    assert done.json["passed"] < 20
    assert decision(project)["seed"] == 7
    assert decision(project)["low"] >= 0.5


def test_errors_are_errors_also_when_it_is_decided(project: Project) -> None:
    project.suite(*({"id": f"c{number}", "input": "raise x"} for number in range(6)),
                  graders=[{"contains": "x"}])  # fmt: skip
    assert stop(project, "--fail-under", "0.5", "--stop", "certain").code == 3
    allowed = stop(project, "--fail-under", "0.5", "--stop", "certain", "--max-errors", "9")
    assert allowed.code == 1


def test_what_is_not_decided_runs_to_its_end(project: Project) -> None:
    suite(project, 4)
    done = stop(project, "--fail-under", "1", "--stop", "likely")
    assert (done.code, done.json["status"], done.json["decision"]) == (0, "completed", None)


def test_against_a_run_that_was_better(project: Project) -> None:
    project.suite(*({"id": f"c{number}", "input": "env ANSWER", "expected_output": "yes"}
                    for number in range(20)))  # fmt: skip
    project.run("run", "--quiet", env={"ANSWER": "yes"})
    arguments = [
        "run", "--json", "--concurrency", "1", "--against", "latest", "--stop", "likely",
        "--seed", "1",  # both decide by the same cases
    ]  # fmt: skip
    worse = project.run(*arguments, env={"ANSWER": "no"})
    assert (worse.code, worse.json["failed"]) == (1, 8)
    assert decision(project)["against"] == project.runs()[0].name
    better = project.run(*arguments, env={"ANSWER": "yes"})
    assert better.code == 0
    assert decision(project)["outcome"] == "better"


def test_the_summary_says_what_was_decided_and_saved(project: Project) -> None:
    suite(project, 10)
    out = project.run("run", "--concurrency", "1", "--fail-under", "0.5", "--stop", "certain").out
    assert "5 not run" in out
    assert "stopped  decided after 5 of 10 cases: the pass rate can't be below 0.5" in out
    assert f"next     evalcase resume {project.runs()[0].name}" in out
    again = project.run("report").out
    assert "stopped  decided after 5 of 10 cases" in again


def test_no_other_interval_is_shown_than_that_of_the_decision(project: Project) -> None:
    suite(project, 60)
    done = stop(project, "--fail-under", "0.5", "--stop", "likely")
    figures, bounds = done.json["figures"], decision(project)
    assert figures["interval"] == "sequence"
    assert (figures["all"]["low"], figures["all"]["high"]) == (bounds["low"], bounds["high"])
    assert figures["all"]["failures_up_to"] is None
    said = f"pass rate 100.0% ({100 * bounds['low']:.1f}–100.0%)"
    assert said in project.run("report").out
    in_markdown = f"{100 * bounds['low']:.1f}–100.0%"
    assert in_markdown in project.run("report", "--format", "markdown").out
    kept = json.loads(project.run("report", "--format", "json").out)["figures"]
    assert kept["all"]["low"] == bounds["low"]
    assert {each["low"] for each in kept["by_suite"].values()} == {None}
    part = project.run("report", "--target", "agent").out
    assert "pass rate 100.0%," in part


def test_resume_runs_the_rest_and_drops_the_decision(project: Project) -> None:
    suite(project, 10, bad=4)
    stop(project, "--fail-under", "0.5", "--stop", "certain")
    done = project.run("resume", "--json")
    assert (done.code, done.json["status"], done.json["total"]) == (0, "completed", 10)
    assert done.json["decision"] is None
    assert "That is dropped, and the rest is run" in done.err
    assert sorted(project.calls()) == sorted({*project.calls()})


@pytest.mark.parametrize(
    "arguments",
    [
        ["--stop", "likely"], ["--against", "latest"], ["--stop", "certain", "--against", "latest"],
        ["--stop", "likely", "--fail-under", "0.5", "--fail-fast"], ["--stop", "never"],
        ["--stop", "likely", "--against", "nothing"],
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(project: Project, arguments: list[str]) -> None:
    suite(project, 2)
    assert project.run("run", *arguments).code == 2
    assert project.calls() == []


# Run stops


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
