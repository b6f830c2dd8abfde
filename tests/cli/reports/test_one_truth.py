"""What the exit code says, every form of a report says, too."""

import json
from xml.etree import ElementTree as ET

import pytest

from tests.report.page.opened import open_page
from tests.run.project import Project, case, cases
from tests.store.rows import encode_row, read_rows


@pytest.fixture
def forgiving(project: Project) -> Project:
    """A project with a run whose two cases passed, although a trial of one errored."""
    project.suite(
        case("shaky", "once", repeat={"times": 3, "pass_rate": 0.6}), case("good"), name="e"
    )
    assert project.run("run", "--quiet", "--concurrency", "1").code == 3
    return project


def test_a_trial_that_errored_in_a_case_that_passed_is_said(forgiving: Project) -> None:
    assert "2 passed, 1 trial errored, pass rate" in forgiving.run("report").out
    assert "1 trial errored" in forgiving.run("list").out
    head = forgiving.run("report", "--format", "markdown").out.splitlines()[1]
    assert head == "### ⚠️ 2 of 2 cases passed (100.0%), 1 trial errored"
    said = forgiving.run("report", "--format", "github").out
    assert said.startswith("::warning ")
    assert "a trial errored; " in said
    assert "the first time" in said


def test_junit_is_in_error_where_a_trial_errored_in_a_case_that_passed(project: Project) -> None:
    project.suite(case("shaky", "once", repeat={"times": 3, "pass_rate": 0.6}), case("good"))
    run = ("run", "--quiet", "--concurrency", "1", "--report", "out.xml")
    for allowed, code, errors, tests in (("0", 3, "1", "3"), ("1", 0, "0", "2")):
        project.forget_calls()
        assert project.run(*run, "--max-errors", allowed).code == code
        root = ET.parse(project.path / "out.xml").getroot()
        assert (root.get("errors"), root.get("tests")) == (errors, tests)
        said = "1 trial errored in 1 case that got another verdict anyway"
        assert [each.get("message") for each in root.iter("error")] == [said] * int(errors)


def test_where_a_grading_comes_from_is_said_in_every_form(project: Project) -> None:
    project.suite(case("good"))
    project.run("run", "--quiet")
    assert "grading" not in project.run("report", "--format", "markdown").out
    project.run("grade", "latest", "--grader", "length: {max: 1}")
    told = "2 of 2, by --grader length: {max: 1}"
    markdown = project.run("report", "--format", "markdown").out
    assert "> grading 2 of 2, by \\-\\-grader length" in markdown
    junit = project.run("report", "--format", "junit").out
    assert f'<property name="grading" value="{told}" />' in junit
    assert f"gradings::{told}" in project.run("report", "--format", "github").out
    project.run("report", "--format", "html", "-o", "page.html")
    page = open_page((project.path / "page.html").read_bytes())
    assert page.about["run"]["grading"] == told


def test_a_part_of_a_run_is_no_word_on_all_of_it(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"))
    assert project.run("run").code == 1
    heads = {
        options: project.run("report", "--format", "markdown", *options).out.splitlines()[1]
        for options in [("--case", "good"), ("--target", "agent"), ("--verdict", "passed")]
    }
    assert list(heads.values()) == [
        "### a part of the run, case good: 1 of 1 cases passed (100.0%)",
        "### a part of the run, target agent: 1 of 2 cases passed (50.0%)",
        "### ❌ 1 of 2 cases passed (50.0%); shown: passed",
    ]


def test_a_mixed_run_is_mixed_in_every_form(project: Project) -> None:
    project.suite(*cases(3))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(1)
    project.add_to_agent("# another version")
    assert project.run("resume").code == 0
    for form in ("markdown", "junit", "github"):
        said = project.run("report", "--format", form).out
        assert "answers from before and after" in said
    assert said.startswith("::notice title=evalcase%3A the run is mixed::")


def test_the_same_cases_at_several_targets_are_not_as_many_that_came_by_chance(
    project: Project,
) -> None:
    suite = [case(f"c{number}", "ok" if number % 2 else "say no") for number in range(10)]
    project.suite(*suite, tags=["all"])
    several = [option for name in ("agent", "other") for option in ("--target", name)]
    done = project.run("run", "--json", *several).json
    figures = json.loads(project.run("report", "--format", "json").out)["figures"]
    for whole in (done["figures"]["all"], figures["all"], *figures["by_suite"].values()):
        assert (whole["n"], whole["rate"], whole["low"], whole["high"]) == (20, 0.75, None, None)
    assert all(part["low"] is None for part in figures["by_tag"].values())
    assert figures["by_target"]["agent"]["low"] > 0.2
    said = project.run("report").out
    assert "pass rate 75.0%," in said
    assert "intervals are shown per target" in said
    clustered = json.loads(project.run("report", "--format", "json", "--cluster", "id").out)
    assert clustered["figures"]["all"]["low"] is not None


def test_a_run_that_ended_at_its_first_failure_has_no_interval(project: Project) -> None:
    suite = [case(f"c{number}") for number in range(9)]
    project.suite(*suite, case("bad", "say no"), case("last"))
    options = ["--fail-fast", "--concurrency", "1", "--json"]
    whole = project.run("run", *options).json["figures"]["all"]
    assert (whole["n"], whole["low"], whole["high"]) == (10, None, None)
    said = project.run("report").out
    assert "pass rate 90.0%," in said
    assert "the results ended the run early" in said
    for _ in range(2):  # what it ended by is as it was, whatever it is graded by
        again = project.run("grade", "latest", "--json").json["figures"]["all"]
        assert (again["n"], again["low"]) == (10, None)
    assert "--fail-fast: bad did not pass" in project.run("report").out


def test_no_name_of_a_record_makes_a_line_of_its_own(project: Project) -> None:
    project.suite(case("a", graders=[{"contains": "nothing"}]))
    project.run("run")
    run = project.runs()[-1]
    record = json.loads((run / "run.json").read_text())
    record["about"]["failed_of"] = "another\n::error::y"
    (run / "run.json").write_text(json.dumps(record))
    rows = [row for _, row in read_rows(str(run / "journal.jsonl"))]
    for grade in (grade for row in rows for grade in row.get("grades", ())):
        grade["grader"] = "polite\n::error::x"
    (run / "journal.jsonl").write_bytes(b"".join(map(encode_row, rows)))
    for options in ([], ["--case", "a"]):
        said = project.run("report", *options).out
        assert "<U+000A>" in said
        assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]


def test_targets_stand_in_the_order_in_which_they_were_named(project: Project) -> None:
    project.suite(case("a"), case("b"))
    named = ["python:agent:other", "python:agent:answer"]
    done = project.run("run", "--target", named[0], "--target", named[1])
    forms = ["text", "markdown", "json", "jsonl", "csv"]
    told = [done.out, *[project.run("report", "--format", form).out for form in forms]]
    for text in told:
        assert 0 <= text.index(f"{named[0]}") < text.index(f"{named[1]}")
    project.run("report", "--format", "html", "-o", "page.html")
    rows = open_page((project.path / "page.html").read_bytes()).rows
    assert list(dict.fromkeys(row["target"] for row in rows)) == named
