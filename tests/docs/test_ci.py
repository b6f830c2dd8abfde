"""The workflow and the hooks that the project ships do what the pages say, as far as a machine
without GitHub can tell."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.regenerate import ROOT

EXAMPLE = ROOT / "examples" / "13-in-ci"
WORKFLOW = EXAMPLE / ".github" / "workflows" / "evals.yml"
COMPARING = WORKFLOW.with_name("compare.yml")
ON_MAIN = {"github.ref == 'refs/heads/main'"}
IN_A_PULL_REQUEST = {"github.event_name == 'pull_request'"}
ALWAYS = "success() || failure()"
INSTALL = 'pip install "evalcase @ git+ADDRESS"'


def steps(workflow: Path = WORKFLOW) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(workflow.read_text())["jobs"]["evals"]["steps"]
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    shutil.copytree(EXAMPLE, folder)
    return folder


def run_steps(
    folder: Path, summary: Path, workflow: Path = WORKFLOW, holds: Collection[str] = ()
) -> list[tuple[str, int, str]]:
    """Run the steps as a runner does: a shell that stops at the first error, each by itself. Of
    conditions other than that on failures, those hold that are given."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "GITHUB_STEP_SUMMARY": str(summary), "HOME": str(folder.parent)}
    done, failed = [], False
    for step in steps(workflow):
        script, condition = step.get("run", INSTALL), step.get("if", "success()")
        runs = condition == ALWAYS or (not failed and condition in {"success()", *holds})
        if script == INSTALL or not runs:
            continue
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        result = subprocess.run(
            shell, check=False, cwd=folder, env=env, capture_output=True, text=True
        )
        failed = failed or result.returncode != 0
        done.append((step["name"], result.returncode, result.stdout))
    return done


def test_the_workflow_checks_runs_and_reports(checkout: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    checked, ran, reported = run_steps(checkout, summary)
    assert (checked[1], ran[1], reported[1]) == (0, 0, 0)
    assert reported[2].startswith("::warning file=evals/desk.eval.yaml,line=12,")
    assert "2 of 3 cases passed" in summary.read_text()
    assert (checkout / "evals.xml").exists()
    assert (checkout / "evals.html").exists()
    assert list(checkout.glob(".evalcase/runs/*/journal.jsonl"))


def test_a_workflow_whose_gate_is_not_met_fails_and_still_reports(
    checkout: Path, tmp_path: Path
) -> None:
    suite = checkout / "evals" / "desk.eval.yaml"
    suite.write_text(suite.read_text().replace("30 days", "90 days"))
    summary = tmp_path / "summary.md"
    _, ran, reported = run_steps(checkout, summary)
    assert (ran[1], reported[1]) == (1, 0)
    assert "1 of 3 cases passed" in summary.read_text()


def test_a_pull_request_is_compared_with_what_main_has_kept(checkout: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    ran, written = run_steps(checkout, summary, COMPARING, ON_MAIN)
    assert (ran[:2], written[:2]) == (("Run the evals", 0), ("Write the baseline", 0))
    _, compared = run_steps(checkout, summary, COMPARING, IN_A_PULL_REQUEST)
    assert compared[1] == 0
    assert "--fail-on broken: passed" in compared[2]
    assert "3 cases compared: 0 fixed, 0 broken" in summary.read_text()


def test_a_pull_request_that_breaks_a_case_fails(checkout: Path, tmp_path: Path) -> None:
    run_steps(checkout, tmp_path / "summary.md", COMPARING, ON_MAIN)
    agent = checkout / "desk.py"
    agent.write_text(agent.read_text().replace("30 days", "90 days"))
    ran, compared = run_steps(checkout, tmp_path / "summary.md", COMPARING, IN_A_PULL_REQUEST)
    assert (ran[1], compared[1]) == (0, 1)
    assert "--fail-on broken: FAILED, 1 case is broken" in compared[2]


def test_hooks_name_commands_that_take_files(tmp_path: Path) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["evalcase-check", "evalcase-migrate"]
    suite = tmp_path / "a.eval.yaml"
    suite.write_text("cases:\n  - {id: a, input: x, expectd_output: y}\n")
    for hook in hooks:
        assert re.search(hook["files"], suite.name)
        entry = [sys.executable, "-m", *hook["entry"].split(), str(suite)]
        result = subprocess.run(entry, check=False, cwd=tmp_path, capture_output=True, text=True)
        if hook["id"] == "evalcase-check":
            assert result.returncode == 2
            assert "did you mean" in result.stdout
