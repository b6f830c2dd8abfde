"""`report` and the figures of a run: intervals, parts, clusters, repeats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.run.project import Done, Project, case, cases


def figures(done: Done) -> Any:
    assert done.code == 0, done
    return json.loads(done.out)["figures"]


@pytest.fixture
def topics(project: Project) -> Project:
    """Two cases of each of three topics: one topic fails."""
    project.suite(
        *(
            case(f"{topic}{n}", "say no" if topic == "b" else "say ok",
                 metadata={"topic": topic}, tags=[f"about-{topic}"])
            for topic in "abc" for n in (1, 2)
        )
    )  # fmt: skip
    assert project.run("run", "--quiet").code == 1
    return project


def test_run_shows_tags_as_report_does(topics: Project) -> None:
    shown = topics.run("run").out.splitlines()
    at = shown.index("tag      passed  failed  pass rate     interval")
    assert shown[at + 1 : at + 4] == [
        "about-a       2       0     100.0%  34.2–100.0%",
        "about-b       0       2       0.0%    0.0–65.8%",
        "about-c       2       0     100.0%  34.2–100.0%",
    ]
    reported = topics.run("report").out.splitlines()
    assert reported[reported.index(shown[at]) :][:4] == shown[at : at + 4]
    assert "4 passed, 2 failed, pass rate 66.7% (30.0–90.3%)" in "\n".join(shown)


def test_json_has_all_parts(topics: Project) -> None:
    found = figures(topics.run("report", "--format", "json"))
    assert (found["all"]["n"], found["all"]["errored"], found["all"]["not_run"]) == (6, 0, 0)
    assert found["all"]["low"] == pytest.approx(0.29999, abs=1e-4)
    assert {name: part["rate"] for name, part in found["by_tag"].items()} == {
        "about-a": 1.0, "about-b": 0.0, "about-c": 1.0
    }  # fmt: skip
    assert list(found["by_grader"]) == ["expected"]
    assert list(found["by_suite"]) == ["s.eval.yaml"]
    assert found["by_target"]["agent"]["latency"]["n"] == 6


def test_clusters_widen_the_interval(topics: Project) -> None:
    alone = figures(topics.run("report", "--format", "json"))["all"]
    done = topics.run("report", "--format", "json", "--cluster", "metadata.topic")
    together = figures(done)["all"]
    assert (together["clusters"], together["rough"], together["n"]) == (3, True, 6)
    assert together["rate"] == alone["rate"]
    assert together["low"] < alone["low"]
    text = topics.run("report", "--cluster", "metadata.topic").out
    assert "rate     the interval is over 3 clusters by metadata.topic; with fewer" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cluster", "metadata.tpic"], "no case has a value at `metadata.tpic`"),
        (["--cluster", "a..b"], "`a..b` can't be a cluster: "),
        (["--pass-at", "2"], "pass@2 needs 2 trials, but some cases have only 1 trial"),
        (["--interval", "bootstrap"], "'bootstrap' is not one of"),
        (["--pass-at", "0"], "0 is not in the range x>=1."),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_can_t_be_had_is_refused(
    topics: Project, options: list[str], words: str, form: str
) -> None:
    done = topics.run("report", "--format", form, *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_the_exact_interval_is_wider(topics: Project) -> None:
    exact = figures(topics.run("report", "--format", "json", "--interval", "exact"))
    assert exact["interval"] == "exact"
    assert (exact["all"]["low"], exact["all"]["high"]) == pytest.approx((0.2228, 0.9567), abs=1e-4)
    assert "(22.3–95.7%)" in topics.run("report", "--interval", "exact").out


def test_pass_at_k(project: Project) -> None:
    project.suite(*cases(3), repeat=4)
    project.run("run", "--quiet")
    done = project.run("report", "--format", "json", "--pass-at", "2", "--pass-at", "3")
    repeats = figures(done)["all"]["repeats"]
    assert [each["k"] for each in repeats["pass_at"]] == [2, 3]
    assert repeats["pass_at"][0]["all"]["mean"] == 1.0
    done = project.run("report", "--pass-at", "5")
    assert (done.code, done.out) == (2, "")
    assert "have only 4 trials" in done.err
