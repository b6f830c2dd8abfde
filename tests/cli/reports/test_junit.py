import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.run.project import Project, case, cases

# What Jenkins' schema (junit-10) allows: attributes and children of each element.
ALLOWED = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp",
         "hostname", "id", "package", "file", "log", "url", "version"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": (
        {"name", "time", "classname", "group"},
        {"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure",
         "flakyError", "system-out", "system-err"},
    ),
    "skipped": ({"type", "message"}, set()),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "flakyFailure": ({"type", "message"}, {"stackTrace", "system-out", "system-err"}),
    "flakyError": ({"type", "message"}, {"stackTrace", "system-out", "system-err"}),
}  # fmt: skip
COIN = """
def coin(question: Question):
    note("calls", question.case)
    return "heads" if len((HERE / "calls").read_text().split()) % 2 else "tails"
"""


@pytest.fixture
def mixed(project: Project) -> Project:
    """A run with a case of every verdict, some of them with odd text."""
    project.suite(
        case("good"), case("bad", "say <b>]]>&\x1b[31m"), case("broken", "raise it's \ud7ff"),
        case("later", skip="not & now"), {"id": "open", "input": "say hi"},
    )  # fmt: skip
    return project


def report(project: Project, *options: str) -> tuple[ET.Element, Path]:
    done = project.run("report", "--format", "junit", "-o", "out.xml", *options)
    assert done.code == 0, done
    path = project.path / "out.xml"
    return ET.parse(path).getroot(), path


def assert_allowed(root: ET.Element) -> None:
    for parent in root.iter():
        attributes, children = ALLOWED[parent.tag]
        assert set(parent.attrib) <= attributes, parent.attrib
        assert {child.tag for child in parent} <= children


def test_every_verdict_has_its_element_and_the_schema_of_jenkins_allows_it(mixed: Project) -> None:
    assert mixed.run("run").code == 3
    root, _ = report(mixed)
    assert_allowed(root)
    tests = {test.get("name", "").split(" ")[0]: test for test in root.iter("testcase")}
    assert {name: [child.tag for child in test] for name, test in tests.items()} == {
        "good": [], "bad": ["failure"], "broken": ["error"], "later": ["skipped"],
        "open": ["failure"],
    }  # fmt: skip
    skipped = tests["later"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "not & now"
    assert {test.get("classname") for test in tests.values()} == {"s.eval.yaml"}


def test_a_reader_of_junit_counts_the_same(mixed: Project) -> None:
    mixed.run("run")
    _, path = report(mixed)
    (suite,) = JUnitXml.fromfile(str(path))
    counts = (suite.tests, suite.failures, suite.errors, suite.skipped)
    assert counts == (5, 2, 1, 1)
    assert float(suite.time) >= 0


def test_a_body_begins_with_the_line_of_the_case_and_shows_both_sides(mixed: Project) -> None:
    mixed.run("run")
    root, _ = report(mixed)
    failure = next(root.iter("failure"))
    first, *rest = (failure.text or "").splitlines()
    line = next(
        number
        for number, text in enumerate((mixed.path / "s.eval.yaml").read_text().splitlines(), 1)
        if "bad" in text
    )
    assert first.startswith(f"s.eval.yaml:{line}: expected")
    assert any("got" in each for each in rest)
    assert "\\x1b[31m" in first or "<U+001B>" in first or "\\u001b" in first


def test_the_line_is_left_out_where_the_run_is_a_strangers(mixed: Project) -> None:
    mixed.run("run")
    about = next(mixed.path.glob(".evalcase/runs/*/run.json"))
    about.write_text(about.read_text().replace('"seal": "', '"seal": "0'))
    root, _ = report(mixed)
    failure = next(root.iter("failure"))
    assert (failure.text or "").startswith("s.eval.yaml: expected")


def test_trials_that_failed_in_a_case_that_passed_are_flaky_failures(project: Project) -> None:
    project.add_to_agent(COIN)
    project.suite(
        case("toss", "x", expected_output="heads", repeat={"times": 4, "pass_rate": 0.5}),
        target="python:agent:coin",
    )
    assert project.run("run", "--concurrency", "1").code == 0
    root, _ = report(project)
    assert_allowed(root)
    assert root.get("failures") == "0"
    (test,) = root.iter("testcase")
    assert [child.tag for child in test] == ["flakyFailure", "flakyFailure"]


def test_names_are_unique_for_several_targets(project: Project) -> None:
    project.suite(*cases(2))
    project.run("run", "--target", "echo", "--target", "python:agent:answer")
    root, _ = report(project)
    names = [(test.get("classname"), test.get("name")) for test in root.iter("testcase")]
    assert len(names) == len(set(names)) == 4
    assert [suite.get("tests") for suite in root] == ["2", "2"]


def test_an_incomplete_run_has_a_test_that_says_so(project: Project) -> None:
    project.suite(case("a", "say no"), *cases(3))
    assert project.run("run", "--fail-fast", "--concurrency", "1").code == 1
    root, _ = report(project)
    assert_allowed(root)
    error = root.find("./testsuite[@name='evalcase']/testcase/error")
    assert error is not None
    assert "3 cases not run" in str(error.get("message"))
    assert root.get("errors") == "1"


def test_a_body_is_capped(project: Project) -> None:
    grader = "def long(text):\n    return '\\n'.join(str(n) * 60 for n in range(9000))\n"
    project.add_to_agent(grader)
    project.suite({"id": "a", "input": "x" * 200_000, "graders": ["python:agent:long"]})
    project.run("run")
    root, _ = report(project)
    (failure,) = root.iter("failure")
    assert len((failure.text or "").encode()) <= 10_100
    assert len(failure.get("message") or "") <= 500


def test_what_a_decision_left_out_is_skipped_and_no_error(project: Project) -> None:
    project.suite(*cases(40))
    done = project.run("run", "--fail-under", "0.2", "--stop", "certain", "--concurrency", "1")
    assert done.code == 0
    root, _ = report(project)
    assert_allowed(root)
    assert (root.get("errors"), root.get("failures")) == ("0", "0")
    skipped = root.find("./testsuite[@name='evalcase']/testcase/skipped")
    assert skipped is not None
    assert "decided after 8 of 40 cases" in str(skipped.get("message"))
    assert "decided after 8 of 40 cases" in project.run("list").out
