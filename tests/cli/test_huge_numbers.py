"""Numbers beyond what a machine counts by are taken as all there is, or refused in words."""

from __future__ import annotations

import pytest

from tests.run.project import Project, cases

HUGE = str(2**63)


@pytest.mark.parametrize(
    "option", ["--limit", "--sample", "--concurrency", "--retries", "--max-errors", "--seed"]
)
def test_a_huge_number_is_taken(project: Project, option: str) -> None:
    project.suite(*cases(2))
    done = project.run("run", "--json", option, HUGE)
    assert (done.code, done.counts()) == (0, {"passed": 2})


def test_huge_numbers_of_other_commands(project: Project) -> None:
    project.suite(*cases(2))
    assert project.run("run", "--quiet").code == project.run("run", "--quiet").code == 0
    assert len(project.run("list", "--limit", HUGE).out.splitlines()) == 1 + 2
    assert project.run("prune", "--keep", HUGE).code == 0
    assert project.run("compare", "previous", "latest", "--limit", HUGE).code == 0
    done = project.run("run", "--repeat", HUGE)
    assert (done.code, "1 to 1000000" in done.err) == (2, True)


def test_nobody_starts_that_many_processes(project: Project) -> None:
    project.suite(*cases(2))
    done = project.run("run", "--processes", HUGE)
    assert (done.code, "1 to 1000" in done.err, project.runs()) == (2, True, [])
