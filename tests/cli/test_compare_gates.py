from __future__ import annotations

from tests.cli.two_runs import case, run_with, two_runs
from tests.run.project import Project

# Gates


def test_worse_and_significantly_so(project: Project) -> None:
    many = [f"case{number}" for number in range(7)]
    two_runs(project, dict.fromkeys(many, "yes"), dict.fromkeys(many, "no"))
    done = project.run("compare", "--fail-on", "worse", "--fail-on", "significantly-worse")
    assert done.code == 1
    assert "Head is worse than base." in done.out
    assert "gate     --fail-on worse: FAILED, -100.0 points" in done.out
    assert "--fail-on significantly-worse: FAILED, -100.0 points, p = 0.016" in done.out


def test_all_is_well(project: Project) -> None:
    many = {f"case{number}": "yes" for number in range(7)}
    two_runs(project, many, many)
    gates = ("broken", "worse", "significantly-worse", "removed")
    done = project.run("compare", *[word for gate in gates for word in ("--fail-on", gate)])
    assert done.code == 0
    assert done.out.count(": passed") == 4


def test_what_was_removed_may_be_asked_about(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    run_with(project, "--case", "a", a="yes")
    assert project.run("compare", "--fail-on", "broken").code == 0
    assert project.run("compare", "--fail-on", "removed").code == 1


def test_an_unknown_gate(project: Project) -> None:
    done = project.run("compare", "--fail-on", "brokn")
    assert done.code == 2
    assert "broken" in done.err
    assert project.run("compare", "--fail-on", "worse-than:x").code == 2
    assert project.run("compare", "--fail-on", "worse-than:nan").code == 2


def test_a_case_that_head_skips_was_removed(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    project.suite(case("a"), case("b", skip="later"))
    run_with(project, a="yes", b="no")
    done = project.run("compare", "--fail-on", "removed")
    assert done.code == 1
    assert "removed: FAILED, 1 case is skipped in head but not in base" in " ".join(
        done.out.split()
    )


def test_a_gate_says_of_how_much_of_base_it_is_met(project: Project) -> None:
    project.suite(case("a"), case("b"), case("c"))
    run_with(project, a="yes", b="no", c="yes")
    run_with(project, "--failed-of", "latest", a="yes", b="no", c="yes")
    done = project.run("compare", "--fail-on", "broken", "--fail-on", "worse")
    said = " ".join(done.out.split())
    assert "broken: passed, in the 1 of 3 cases of base that head ran" in said


def test_a_gate_is_not_met_by_trials_while_cases_are_lost(project: Project) -> None:
    project.add_to_agent(
        "def flaky(question: Question):\n"
        "    note('calls', question.case)\n"
        "    calls = calls_of(question.case)\n"
        "    good = question.case == 'a' if calls <= 3 else calls < 6\n"
        "    return 'ok' if good else 'no'\n"
    )
    project.suite(
        case("a", repeat=3, expected_output="ok"), case("b", repeat=3, expected_output="ok"),
        target="python:agent:flaky",
    )  # fmt: skip
    for _ in range(2):
        project.run("run", "--quiet", "--concurrency", "1")
    fell = "the pass rate of cases fell from 50.0% to 0.0%"
    done = project.run("compare", "--fail-on", "worse", "--fail-on", "worse-than:0.9")
    told = " ".join(done.out.split())
    assert done.code == 1
    assert f"gate --fail-on worse: FAILED, {fell}, though not that of trials" in told
    assert "worse-than:0.9: passed" in told
    assert project.run("compare", "--fail-on", "worse", "--measure", "passed").code == 0
    assert project.run("compare", "--fail-on", "worse", "--measure", "cases").code == 1
