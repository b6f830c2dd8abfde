"""Functions that are named by their file: `python:./folder/file.py:function`."""

from pathlib import Path

import pytest

from tests.run.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    (tmp_path / "my-evals").mkdir()
    (tmp_path / "my-evals" / "checks.py").write_text(
        "def short(text, case):\n    return len(text) < 9 or f'{case.id} is long'\n"
        "def answer(question):\n    return question.lower()\n"
    )
    return project


def test_graders_and_targets_may_be_named_so(project: Project) -> None:
    target, grader = (f"python:./my-evals/checks.py:{name}" for name in ("answer", "short"))
    project.suite(
        {"id": "a", "input": "HI", "expected_output": "hi", "graders": [grader, "expected"]},
        {"id": "b", "input": "HI", "graders": [{grader: {"weight": 2}}]},
        {
            "id": "c",
            "input": "A LONG ANSWER",
            "graders": [{"python": grader.removeprefix("python:")}],
        },
        target=target,
    )
    assert project.run("check", "--strict").code == 0
    done = project.run("run", "--json")
    assert done.counts() == {"passed": 2, "failed": 1}
    assert "c is long" in project.run("report").out


def test_an_edit_of_the_file_has_answers_graded_again(project: Project) -> None:
    project.suite({"id": "a", "input": "say hi", "graders": ["python:./my-evals/checks.py:short"]})
    assert project.run("run", "--json", "--target", "python:agent:answer").counts() == {"passed": 1}
    project.forget_calls()
    file = project.path / "my-evals" / "checks.py"
    file.write_text(file.read_text().replace("< 9", "< 1"))
    assert project.run("resume", "latest", "--json").counts() == {"failed": 1}
    assert project.calls() == []
