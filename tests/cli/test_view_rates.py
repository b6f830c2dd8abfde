"""The list of `evalcase view` has the rates that `report` has, with the same intervals or none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalcase.report.view import Listing
from tests.run.project import Project, case, cases


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def tell_newest(project: Project) -> dict[str, Any]:
    listing = Listing(str(project.path / ".evalcase" / "runs"), str(project.path), None)
    newest: dict[str, Any] = listing.tell()["runs"][0]
    return newest


def report_figures(project: Project) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(project.run("report", "--format", "json").out)["figures"]
    return figures


def bounds(part: dict[str, Any]) -> tuple[Any, Any, Any]:
    return part["rate"], part["low"], part["high"]


def run_decided(project: Project) -> None:
    project.suite(*cases(60), *cases(60, "say no", prefix="d"))
    options = ("--fail-under", "0.9", "--stop", "likely", "--concurrency", "1", "--seed", "0")
    project.run("run", "--quiet", *options)


def run_failing_fast(project: Project) -> None:
    project.suite(*cases(3, "say no"))
    project.run("run", "--quiet", "--fail-fast", "--concurrency", "1")


def run_one_case_each(project: Project) -> None:
    project.suite(case("a"), name="one")
    project.suite(case("b", "say no"), name="two")
    project.run("run", "--quiet")


def run_one_case(project: Project) -> None:
    project.suite(case("a"), case("omega", skip="not now"))
    project.run("run", "--quiet")


def run_repeated(project: Project) -> None:
    project.suite(*cases(3), case("x", "say no"), repeat=3)
    project.run("run", "--quiet")


def run_at_two_targets(project: Project) -> None:
    project.suite(case("a", "say no"), case("b"))
    project.run("run", "--quiet", "--target", "agent", "--target", "other")


def run_suites_at_targets_of_their_own(project: Project) -> None:
    project.suite(*cases(3), name="one", target="agent")
    project.suite(*cases(3), name="two", target="other")
    project.run("run", "--quiet")


@pytest.mark.parametrize(
    "make",
    [
        run_decided, run_failing_fast, run_one_case_each, run_one_case, run_repeated,
        run_at_two_targets, run_suites_at_targets_of_their_own,
    ],
)  # fmt: skip
def test_intervals_of_view_are_those_of_report(
    project: Project, make: Callable[[Project], None]
) -> None:
    make(project)
    told, figures = tell_newest(project), report_figures(project)
    assert told["rate"] == bounds(figures["all"])
    by_suite: dict[str, list[Any]] = {}
    for part in told["parts"]:
        by_suite.setdefault(part["suite"], []).append(part["rate"])
    for suite, rates in by_suite.items():
        if len(rates) == 1:
            assert rates == [bounds(figures["by_suite"][suite])]
        else:
            assert rates == [bounds(part) for part in figures["by_target"].values()]
