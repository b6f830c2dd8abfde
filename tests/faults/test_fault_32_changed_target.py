"""A target that is another than when the run began: its answers are told apart from the old."""

import csv
import io
import json

import pytest

from tests.run.project import CONFIG, Done, Project, case, cases

TEXT = "mixed    answers from before and after `agent` changed"


def begun(project: Project, *arguments: str) -> None:
    """A run of three cases, of which one is finished."""
    project.suite(*cases(3))
    project.run("run", "--quiet", "--concurrency", "1", *arguments)
    project.keep_only(1)


def test_fault_32_an_edit_of_the_agent_is_told_and_marks_the_run_everywhere(
    project: Project,
) -> None:
    begun(project)
    project.add_to_agent("# another version")
    done = project.run("resume")
    assert done.code == 0
    assert "target `agent` changed since this run started: its code" in done.err
    assert TEXT in done.out
    assert TEXT in project.run("report").out
    assert "mixed" in project.run("list").out
    assert json.loads(project.run("report", "--format", "json").out)["mixed"] == ["agent"]
    rows = project.run("report", "--format", "jsonl").out.splitlines()
    assert [json.loads(row)["mixed"] for row in rows] == [True] * 3
    table = csv.DictReader(io.StringIO(project.run("report", "--format", "csv").out))
    assert [row["mixed"] for row in table] == ["mixed"] * 3
    assert '"type":"target"' in (project.runs()[0] / "journal.jsonl").read_text()
    again = project.run("resume", "latest", "--json")
    assert again.json["mixed"] == ["agent"]
    (only,) = again.err.splitlines()
    assert only.startswith("nothing to do: "), "the change was told before"


@pytest.mark.parametrize(
    "text", ["import helper", "from helper import x", "def f():\n    from pack.inner import x"]
)
def test_fault_32_modules_that_the_agent_imports_count(project: Project, text: str) -> None:
    (project.path / "helper.py").write_text("x = 1\n")
    (project.path / "pack").mkdir()
    (project.path / "pack" / "__init__.py").write_text("from . import (\n    inner,\n)\n")
    (project.path / "pack" / "inner.py").write_text("x = 1\n")
    project.add_to_agent(text)
    begun(project)
    for name in ("helper.py", "pack/inner.py"):
        (project.path / name).write_text("x = 2\n")
    assert project.run("resume", "--json").json["mixed"] == ["agent"]


def test_fault_32_what_the_agent_does_not_import_does_not_count(project: Project) -> None:
    (project.path / "checks.py").write_text("def good(text):\n    return True\n")
    project.suite(*cases(3), graders=["python:checks:good"])
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(1)
    (project.path / "checks.py").write_text("def good(text):\n    return text == 'ok'\n")
    done = project.run("resume", "--json")
    assert (done.json["mixed"], "changed since" in done.err) == ([], False)


def test_fault_32_another_configuration_counts_but_not_how_many_at_once(project: Project) -> None:
    begun(project)
    project.configure(CONFIG.replace('"agent:answer"', '"agent:answer"\nconcurrency = 3'))
    assert project.run("resume", "--json").json["mixed"] == []
    project.keep_only(1)
    project.configure(CONFIG.replace("agent:answer", "agent:other"))
    done = project.run("resume", "--json")
    assert done.json["mixed"] == ["agent"]
    assert "changed since this run started: its configuration" in done.err


def test_fault_32_programs_and_what_they_import_count(project: Project) -> None:
    (project.path / "program.py").write_text("import helper\nprint(helper.word)\n")
    (project.path / "helper.py").write_text("word = 'ok'\n")
    begun(project, "--target", "command:python3 program.py")
    (project.path / "helper.py").write_text("word = 'o' + 'k'\n")
    done = project.run("resume", "--json")
    assert (done.code, done.json["mixed"]) == (0, ["command:python3 program.py"])


def test_fault_32_a_run_is_not_mixed_if_no_old_answer_is_left(project: Project) -> None:
    project.suite(case("a", "raise x"), case("b", "raise x"))
    project.run("run", "--quiet")
    agent = project.path / "agent.py"
    agent.write_text(agent.read_text().replace("raise ValueError(rest)", "return 'ok'"))
    done = project.run("resume", "--retry-errored", "--json")
    assert (done.code, done.json["mixed"]) == (0, [])
    assert "changed since" in done.err


def failed_of(project: Project, *arguments: str) -> Done:
    return project.run("run", "--failed-of", *arguments)


def test_fault_32_failed_cases_are_asked_again_in_a_run_of_their_own(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"), case("broken", "raise x"))
    project.suite(case("bad"), name="other")
    assert project.run("run", "--quiet").code == 3
    first = project.runs()[0].name
    project.forget_calls()
    done = failed_of(project, "latest", "--json")
    assert (done.code, done.counts()) == (3, {"failed": 1, "errored": 1})
    assert (sorted(project.calls()), done.json["failed_of"]) == (["bad", "broken"], first)
    shown = failed_of(project, first)
    assert f"part     cases that did not pass in {first}\n" in shown.out
    assert f"cases that did not pass in {first}\n" in project.run("report").out
    assert f"cases that did not pass in {first}" in project.run("list").out
    row = json.loads(project.run("report", "--format", "jsonl").out.splitlines()[0])
    assert row["failed_of"] == first
    about = json.loads((project.runs()[-1] / "run.json").read_text())["about"]
    assert about["failed_of"] == first


def test_fault_32_nothing_failed_is_nothing_to_run(project: Project) -> None:
    project.suite(case("good"))
    project.run("run", "--quiet")
    done = failed_of(project, "latest")
    assert (done.code, "no cases that did not pass" in done.err) == (2, True)
