"""Runs of some of the cases: nothing takes them for runs of all."""

from __future__ import annotations

import json

import pytest

from tests.cli.two_runs import case, run_with
from tests.run.project import Project


def suite_of(project: Project, *names: str) -> None:
    project.suite(*(case(name, tags=["t"] if name == "a" else []) for name in names))


def names_of(done: str) -> list[str]:
    """Base and head, as a comparison names them."""
    found = json.loads(done)
    return [found["base"]["name"], found["head"]["name"]]


@pytest.mark.parametrize("options", [["--case", "a"], ["--tag", "t"], ["--limit", "1"]])
def test_every_listing_says_that_a_run_is_of_a_part(project: Project, options: list[str]) -> None:
    suite_of(project, "a", "b", "c")
    done = project.run("run", *options, env={"A": "yes"})
    assert "part     1 of 3 cases selected" in done.out
    assert "part     1 of 3 cases selected" in project.run("report").out
    assert "1 of 3 cases selected" in project.run("list").out
    assert "1 of 3 cases selected" in project.run("report", "--format", "markdown").out
    found = json.loads(project.run("report", "--format", "json").out)
    assert found["selected"] == {"cases": 1, "of": 3}


def test_shards_are_parts_and_their_sum_is_not(project: Project) -> None:
    suite_of(project, "a", "b", "c")
    for shard in ("1/2", "2/2"):
        run_with(project, "--shard", shard, a="yes", b="yes", c="yes")
    told = [each["selected"] for each in json.loads(project.run("list", "--json").out)]
    assert sorted(each["cases"] for each in told) == [1, 2]
    runs = [run.name for run in project.runs()]
    assert project.run("merge", *runs).code == 0
    assert "selected" not in project.run("report").out


def test_a_part_is_compared_with_the_newest_run_that_was_to_have_its_cases(
    project: Project,
) -> None:
    suite_of(project, "a", "b", "c")
    run_with(project, a="yes", b="yes", c="yes")
    run_with(project, "--case", "b", b="no")
    run_with(project, "--case", "a", a="no")
    whole, _, part = (run.name for run in project.runs())
    assert names_of(project.run("compare", "--json").out) == [whole, part]
    said = " ".join(project.run("compare").out.split())
    assert "base is the newest run before head of the same cases; 1 run of" in said
    assert "head covers only a part: 1 of 3 cases selected" in said
    assert "not compared: 2 not selected in head" in said
    assert "removed" not in said


def test_where_no_run_has_the_cases_the_one_before_is_taken_and_it_is_said(
    project: Project,
) -> None:
    suite_of(project, "a", "b")
    run_with(project, "--case", "a", a="yes")
    run_with(project, a="yes", b="yes")
    said = " ".join(project.run("compare").out.split())
    assert "base covers only a part: 1 of 2 cases selected" in said
    assert "not compared: 1 not selected in base" in said
    assert "added" not in said


def test_a_run_of_other_targets_in_between_is_passed_over(project: Project) -> None:
    suite_of(project, "a")
    run_with(project, a="yes")
    project.run("run", "--quiet", "--target", "echo", "--target", "python:agent:other")
    run_with(project, a="no")
    first, _, last = (run.name for run in project.runs())
    assert names_of(project.run("compare", "--json").out) == [first, last]
    said = " ".join(project.run("compare").out.split())
    assert "1 run of other cases or targets in between" in said
