"""The command in the process of the tests, or in one that is forked, is the command: the same comes
of it, and none of it is seen by the next test."""

import os
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.cli.command import LIMIT_S, Result, evalcase, evalcase_process, start_process
from tests.run.project import Project


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["chekc"],
        ["check", "."],
        ["check", "-"],
        ["show", "good.eval.yaml", "--format", "yaml"],
        ["schema"],
        ["migrate", "--diff", "old.eval.yaml"],
        ["migrate", "-"],
        ["init", "there"],
        ["list"],
        ["resume"],
        ["run", "--dry-run"],
        ["run", "--nope"],
        ["run", "--target", "echo", "--no-exec", "good.eval.yaml", "--limit", "0"],
    ],
    ids=" ".join,
)
def test_the_same_comes_of_it_as_of_a_process(tmp_path: Path, arguments: list[str]) -> None:
    results = []
    for name, run in (("in", evalcase), ("apart", evalcase_process), ("forked", evalcase_forked)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "good.eval.yaml").write_text("- {input: hé, expected_output: hé, id: ä}\n")
        (folder / "old.eval.yaml").write_text("- {input_messages: hi, outcome: x}\n")
        results.append(run(*arguments, cwd=folder, stdin=b"- input_messages: \xc3\xa9\n"))
    assert results[0] == results[1] == results[2]


def evalcase_forked(*arguments: str, cwd: Path, stdin: bytes) -> Result:
    process = start_process(*arguments, cwd=cwd, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    stdout, stderr = process.communicate(stdin, timeout=LIMIT_S)
    return Result(process.returncode, stdout, stderr)


def test_user_code_is_what_it_is_in_the_files_by_now(project: Project) -> None:
    project.suite({"id": "a", "input": "say ok", "graders": ["python:grader:grade"]})
    for number, verdict in enumerate(("True", "False", "1 > 2", "True")):
        (project.path / "grader.py").write_text(f"def grade(text):\n    return {verdict}\n")
        # The cache of compiled files knows them by size and second.
        os.utime(project.path / "grader.py", (number, number))
        assert project.run("run", "--quiet").code == (0 if verdict == "True" else 1)
