"""What a model says is no command to the CI system that reads the output."""

from __future__ import annotations

import re

import pytest

from tests.run.project import Project

COMMANDS = "one\n::warning::pwned\n  ::stop-commands::x\n##vso[task.setvariable]evil\n##[error]pwn"
OBEYED = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)
CI = {"GITHUB_ACTIONS": "true"}


@pytest.fixture
def hostile(project: Project) -> Project:
    project.suite(
        {"id": "a", "input": COMMANDS, "graders": [{"contains": "closed"}]},
        {"id": "b", "input": COMMANDS, "expected_output": "two\n::error::x"}, target="echo",
    )  # fmt: skip
    return project


def test_no_command_of_a_model_is_printed_where_it_would_be_obeyed(hostile: Project) -> None:
    for arguments in (
        ["run"], ["run", "--quiet"], ["report"], ["report", "--case", "a"], ["compare"],
        ["compare", "--format", "markdown"], ["resume", "latest"], ["grade", "latest"],
    ):  # fmt: skip
        done = hostile.run(*arguments, env=CI)
        assert not OBEYED.search(done.out), (arguments, done.out)
        assert not OBEYED.search(done.err), (arguments, done.err)


def test_elsewhere_text_is_shown_as_it_is(hostile: Project) -> None:
    assert "::warning::pwned" in hostile.run("run").out


def test_annotations_are_commands_still(hostile: Project) -> None:
    hostile.run("run")
    done = hostile.run("report", "--format", "github", env=CI)
    assert [line.split(" ")[0] for line in done.out.splitlines()] == ["::error", "::error"]
