"""The shell of the composite action, run as a workflow would run it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from docs.regenerate import ROOT
from tests.cli.command import environment

SCRIPT = ROOT / ".github" / "action" / "run.sh"
EXAMPLE = ROOT / "examples" / "13-in-ci"


class Ran(NamedTuple):
    code: int
    out: str
    summary: str


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "repo"))


def act(folder: Path, **inputs: str) -> Ran:
    summary = folder / "summary.md"
    variables = {f"EVALS_{name.upper()}": value for name, value in inputs.items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**environment(), "PATH": path, "GITHUB_STEP_SUMMARY": str(summary), **variables}
    done = subprocess.run(
        ["bash", SCRIPT], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return Ran(done.returncode, done.stdout, summary.read_text() if summary.exists() else "")


def test_the_inputs_of_the_action_are_those_of_its_script() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [each for each in action["runs"]["steps"] if "env" in each]
    used = {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    assert used == {*step["env"].values(), step["working-directory"]}
    for name in step["env"]:
        assert name in SCRIPT.read_text()


def test_failed_cases_are_annotated_and_summed_up_and_fail_the_step(checkout: Path) -> None:
    ran = act(checkout)
    assert ran.code == 1
    assert "::error file=evals/" in ran.out
    assert "pass rate" in ran.summary.lower()
    assert (checkout / "evals.jsonl").read_text().count("\n") > 1


def test_with_a_baseline_only_what_broke_fails_the_step(checkout: Path) -> None:
    act(checkout, results="main.jsonl")
    same = act(checkout, baseline="main.jsonl")
    assert (same.code, "broken" in same.summary) == (0, True)
    agent = checkout / "desk.py"
    agent.write_text(agent.read_text().replace("9 to 17", "noon to 4"))
    assert act(checkout, baseline="main.jsonl").code == 1


def test_a_baseline_that_is_not_there_yet_leaves_it_to_the_run(checkout: Path) -> None:
    assert act(checkout, baseline="main.jsonl").code == 1


def test_a_broken_suite_runs_nothing(checkout: Path) -> None:
    (checkout / "evals" / "bad.eval.yaml").write_text("cases: [{inptu: x}]\n")
    ran = act(checkout)
    assert (ran.code, ran.summary) == (2, "")
    assert "::error file=evals/bad.eval.yaml,line=1" in ran.out
    assert not (checkout / ".evalcase").exists()
