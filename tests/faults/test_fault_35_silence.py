from collections.abc import Callable

import pytest

from tests.cli.two_runs import case, run_with, two_runs
from tests.run.project import Project


def unrelated(project: Project) -> None:
    project.suite(case("a"))
    run_with(project, a="yes")
    project.suite(case("b"))
    run_with(project, b="yes")


def empty_base(project: Project) -> None:
    two_runs(project, {"a": "yes"}, {"a": "yes"})
    (project.runs()[0] / "journal.jsonl").unlink()


def incomplete_head(project: Project) -> None:
    two_runs(project, {"a": "yes", "b": "yes"}, {"a": "yes", "b": "no"})
    project.keep_only(1)


def incomplete_base(project: Project) -> None:
    project.suite(case("a"), case("b"))
    run_with(project, a="yes", b="yes")
    project.keep_only(1)
    run_with(project, a="yes", b="no")


def errored_base(project: Project) -> None:
    two_runs(project, {"b": "yes"}, {"a": "no", "b": "yes"})


def errored_in_both(project: Project) -> None:
    two_runs(project, {"b": "yes"}, {"b": "yes"})
    project.suite(case("a"), case("b"))
    run_with(project, b="yes")
    run_with(project, b="yes")


@pytest.mark.parametrize(
    "happened",
    [unrelated, empty_base, incomplete_head, incomplete_base, errored_base, errored_in_both],
)
@pytest.mark.parametrize("gate", ["broken", "worse-than:1"])
def test_fault_35_nothing_to_go_by_is_not_green(
    project: Project, happened: Callable[[Project], None], gate: str
) -> None:
    happened(project)
    done = project.run("compare", "--fail-on", gate)
    assert done.code == 3, done.out
    assert "not decided: " in done.out
    assert project.run("compare").code == 0


def test_fault_35_a_baseline_that_lost_lines_is_not_green(project: Project) -> None:
    two_runs(project, {"a": "yes", "b": "yes"}, {"a": "yes", "b": "no"})
    project.run("report", "previous", "--format", "jsonl", "-o", "main.jsonl")
    path = project.path / "main.jsonl"
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    done = project.run("compare", "--baseline", "main.jsonl", "--fail-on", "broken")
    assert done.code == 3
    assert "it has 1 of the 2 trials" in done.out


def test_fault_35_a_baseline_of_an_incomplete_run_is_not_green(project: Project) -> None:
    incomplete_base(project)
    project.run("report", "previous", "--format", "jsonl", "-o", "main.jsonl")
    done = project.run("compare", "--baseline", "main.jsonl", "--fail-on", "broken")
    assert done.code == 3
    assert "was not completed" in done.out


def test_fault_35_an_empty_baseline_is_not_green(project: Project) -> None:
    two_runs(project, {"a": "yes"}, {"a": "yes"})
    (project.path / "main.jsonl").touch()
    assert project.run("compare", "--baseline", "main.jsonl", "--fail-on", "broken").code == 3
