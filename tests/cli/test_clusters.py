"""The recipes of the page on clusters, with processes in place of machines."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from docs.regenerate import ROOT
from tests.cli.command import LIMIT_S, environment
from tests.run.project import Project, case

PAGE = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
CASES = [case(f"c{number}", "say ok") for number in range(9)]
# The machine is lost in the middle of one case, the first time.
LOST = """
import os
from pathlib import Path


def lost(question: Question):
    note("calls", question.case)
    if question.case == os.environ.get("LOST_AT"):
        os.kill(os.getpid(), 9)
    return "ok"
"""
SLURM = {"SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "1"}
CLUSTERS: dict[str, Callable[[int], dict[str, str]]] = {
    "slurm": lambda task: {**SLURM, "SLURM_ARRAY_TASK_ID": str(task + 1)},
    "kubernetes": lambda task: {"JOB_COMPLETION_INDEX": str(task), "SHARD": "auto/3"},
}


def write_task(project: Project) -> None:
    """The script of the page, for another target."""
    found = re.search(r"```sh file=task\.sh\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    script = found[1].replace("--target echo", "--target python:agent:lost --concurrency 1")
    (project.path / "task.sh").write_text(script)
    command = project.path / "bin" / "evalcase"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evalcase "$@"\n')
    command.chmod(0o755)


def run_task(project: Project, **changes: str) -> int:
    env = environment(**changes)
    env["PATH"] = f"{project.path / 'bin'}:{env['PATH']}"
    done = subprocess.run(
        ["bash", "task.sh"], cwd=project.path, env=env, capture_output=True, timeout=LIMIT_S,
        check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr
    return done.returncode


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_task_whose_machine_is_lost_goes_on_where_it_was_and_all_become_one_run(
    project: Project, cluster: str
) -> None:
    project.suite(*CASES)
    project.add_to_agent(LOST)
    write_task(project)
    variables = CLUSTERS[cluster]
    assert run_task(project, **variables(0)) == 0
    first = project.calls()
    # Of its three cases, it is lost in the second: which that is, a first try shows.
    shown = project.run("run", "--shard", "2/3", "--dry-run", "--target", "echo")
    second = re.findall(r"c\d", shown.out)[1]
    assert run_task(project, **variables(1), LOST_AT=second) == 137
    assert run_task(project, **variables(2)) == 0
    parts = [str(each) for each in sorted(Path(project.path, "shards").iterdir())]
    done = project.run("merge", *parts)
    assert (done.code, "is not complete" in done.err) == (3, True), done.err
    assert run_task(project, **variables(1)) == 0
    assert run_task(project, **variables(2)) == 0  # started once more, it has nothing to do
    done = project.run("merge", *parts, "--json")
    assert (done.code, done.json["total"], done.json["passed"]) == (0, 9, 9)
    assert sorted(project.calls()) == sorted([*(each["id"] for each in CASES), second])
    assert len(first) == 3
