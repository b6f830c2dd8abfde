import json

import pytest

from tests.run.project import Project, case, cases


def test_a_run_leaves_every_report_that_was_asked_for(project: Project) -> None:
    project.suite(case("a", "say ok"), case("b", "say no"))
    done = project.run("run", "--report", "out.jsonl", "--report", "out.json", "--report", "o.txt")
    assert done.code == 1
    rows = [json.loads(line) for line in (project.path / "out.jsonl").read_text().splitlines()]
    assert [(row["case"], row["verdict"]) for row in rows] == [("a", "passed"), ("b", "failed")]
    assert json.loads((project.path / "out.json").read_text())["failed"] == 1
    assert "1 failed" in (project.path / "o.txt").read_text()


def test_an_ending_that_names_no_form_is_refused_before_anything_is_asked(
    project: Project,
) -> None:
    project.suite(case("a", "say ok"))
    done = project.run("run", "--report", "out.jsnl")
    assert done.code == 2
    assert "is not a report format" in done.err
    assert "did you mean `.json" in done.err
    assert project.calls() == []


def test_a_report_that_can_not_be_written_is_no_success(project: Project) -> None:
    project.add_to_agent('def gone(question):\n    (HERE / "out").rmdir()\n    return "ok"\n')
    (project.path / "out").mkdir()
    project.suite(case("a", "x"), target="python:agent:gone")
    done = project.run("run", "--report", "out/a.json")
    assert done.code == 3
    assert "can't be written" in done.err
    assert "1 passed" in done.out


def test_resume_and_grade_write_reports_too(project: Project) -> None:
    project.suite(*cases(2))
    project.run("run")
    for command in (["resume", "latest"], ["resume"], ["grade", "latest"]):
        done = project.run(*command, "--report", "out.json")
        assert done.code == 0, done
        assert json.loads((project.path / "out.json").read_text())["passed"] == 2
        (project.path / "out.json").unlink()


def test_a_report_that_breaks_half_way_leaves_the_file_as_it_was(project: Project) -> None:
    project.suite(*cases(3))
    project.run("run", "--report", "out.jsonl")
    before = (project.path / "out.jsonl").read_bytes()
    journal = next(project.path.glob(".evalcase/runs/*/journal.jsonl"))
    journal.write_bytes(journal.read_bytes().replace(b'"passed"', b'"pasted"', 1))
    done = project.run("report", "--format", "jsonl", "-o", "out.jsonl")
    assert done.code == 3
    assert (project.path / "out.jsonl").read_bytes() == before


def test_a_report_that_could_not_be_written_makes_the_exit_code_3(project: Project) -> None:
    project.add_to_agent('def gone(question):\n    (HERE / "out").rmdir()\n    return "ok"\n')
    (project.path / "out").mkdir()
    project.suite(case("a", "x"), target="python:agent:gone")
    assert project.run("run", "--report", "out/a.json", "--report", "a.md").code == 3
    assert (project.path / "a.md").exists()
    assert project.run("report", "-o", "b.json").code == 0


@pytest.mark.parametrize("name", ["d.jsonl", "rows.csv", "d.json"])
def test_a_file_that_is_no_report_is_not_overwritten(project: Project, name: str) -> None:
    project.suite(case("a", "say 4"))
    file = project.path / name
    file.write_text('{"id": "one", "input": "hi"}\n')
    before = file.read_bytes()
    done = project.run("run", "--report", name)
    assert (done.code, project.calls()) == (2, []), "nothing was run"
    assert f"{name} already exists and is not an evalcase report" in done.err
    project.run("run")
    assert project.run("report", "-o", name).code == 2
    assert file.read_bytes() == before


SOURCES = ["s.eval.yaml", "new.eval.json", "t.suite.yml", "evalcase.toml", "pyproject.toml", "a.py"]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("options", [[], ["--format", "json"]])
def test_a_report_is_never_written_over_a_suite_a_configuration_or_code(
    project: Project, name: str, options: list[str]
) -> None:
    project.suite(case("a"))
    for _ in range(2):
        project.run("run", "--quiet")
    if name not in ("s.eval.yaml", "new.eval.json"):
        (project.path / name).touch()
    before = {path.name: path.read_bytes() for path in project.path.iterdir() if path.is_file()}
    for command in (["report", *options, "-o"], ["compare", *options, "-o"], ["run", "--report"]):
        done = project.run(*command, name)
        assert done.code == 2
        assert f"{name} can't be written: a report is never written over a suite" in done.err
    after = {path.name: path.read_bytes() for path in project.path.iterdir() if path.is_file()}
    assert after == before


def test_a_report_is_not_written_over_a_suite_by_a_link(project: Project) -> None:
    suite = project.suite(case("a"))
    project.run("run", "--quiet")
    (project.path / "out.html").symlink_to(suite.name)
    before = suite.read_bytes()
    for command in (["report", "-o"], ["run", "--report"]):
        assert project.run(*command, "out.html").code == 2
    assert suite.read_bytes() == before


def test_the_ending_of_a_file_names_a_form_unless_the_command_does(project: Project) -> None:
    project.suite(case("a"))
    for _ in range(2):
        project.run("run", "--quiet")
    for command in ("report", "compare"):
        for name in ("x.foo", "x", "x.htm"):
            done = project.run(command, "-o", name)
            assert done.code == 2
            assert f"the extension of {name} is not a report format" in done.err
            assert not (project.path / name).exists()
        for _ in range(2):
            assert project.run(command, "--format", "html", "-o", "x.foo").code == 0
        assert (project.path / "x.foo").read_text().startswith("<!doctype html>")
        (project.path / "x.foo").unlink()
    done = project.run("compare", "-o", "x.csv")
    assert done.err == (
        "evalcase: the extension of x.csv is not a report format; "
        "it must be one of .txt, .html, .json, .md\n"
    )


def test_a_report_is_written_to_a_pipe_as_it_is(project: Project) -> None:
    project.suite(case("a"))
    project.run("run", "--quiet")
    shown = project.run_process("report", "--format", "jsonl", "-o", "/dev/stdout").out
    assert shown == project.run("report", "--format", "jsonl").out
