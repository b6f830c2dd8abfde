"""The examples are what they say they are, and the demo runs and changes nothing."""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import evalcase
from docs.regenerate import ROOT
from evalcase.cli.app import run_command
from tests.for_each import for_each

EXAMPLES = ROOT / "examples"
CLEAN = ["01-short-forms", "02-messages-and-tools", "03-structured-output"]
CLEAN += ["04-jsonl-with-suite-fields", "07-an-agent", "09-fields", "10-trajectory", "11-a-judge"]
CLEAN += ["12-fooling-a-judge", "13-in-ci", "14-from-traces", "15-with-pytest"]
CLEAN += ["16-a-conversation", "17-variables", "18-a-coding-agent"]
CLEAN += ["19-with-and-without-a-skill"]
COLUMNS = 80


def folders() -> list[Path]:
    return sorted(path for path in EXAMPLES.iterdir() if path.is_dir())


def severities(folder: Path) -> set[str]:
    return {problem.severity for problem in evalcase.check([folder], root=folder)}


@for_each("name", CLEAN)
def test_good_examples_have_no_problems_at_all(name: str) -> None:
    assert evalcase.check([EXAMPLES / name], root=EXAMPLES / name) == []


def test_old_names_are_warned_about_and_can_be_migrated(tmp_path: Path) -> None:
    assert severities(EXAMPLES / "05-old-names") == {"warning"}
    copy = tmp_path / "copy"
    shutil.copytree(EXAMPLES / "05-old-names", copy)
    assert run_command(["migrate", str(copy)]) == 0
    assert evalcase.check([copy], root=copy) == []


def test_mistakes_are_errors_of_many_kinds() -> None:
    problems = evalcase.check([EXAMPLES / "06-mistakes"])
    assert {problem.severity for problem in problems} == {"error"}
    assert len({problem.code for problem in problems}) >= 9


def test_a_package_has_to_be_installed_before_its_names_are_known() -> None:
    folder = EXAMPLES / "08-a-package"
    codes = {problem.code for problem in evalcase.check([folder], root=folder)}
    assert codes == {"unknown-grader", "undefined-target"}


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(path): sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_demo_runs_and_changes_nothing(tmp_path: Path) -> None:
    run_demo(str(tmp_path))
    pages = [path.read_bytes() for path in tmp_path.rglob("*.html")]
    assert [page[:15] for page in pages] == [b"<!doctype html>"]


def run_demo(temporary: str) -> None:
    before = fingerprint(EXAMPLES)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", EXAMPLES / "demo.sh"],
        cwd="/",
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": temporary},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert fingerprint(EXAMPLES) == before
    told = ["4 passed, 1 failed, 1 errored", "5 passed, 1 failed", "6 passed", "grading  2 of 2"]
    told += [
        "passed 1.00 by expected",
        "did you mean",
        "3 errors",
        "2 fixed, 0 broken",
        f"Open it in a browser:\n{temporary}",
        "That is the tour.",
    ]
    places = [done.stdout.find(each) for each in told]
    assert -1 not in places
    assert places == sorted(places)
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    # The path of the page is as long as pytest makes it.
    assert [line for line in lines if len(line) > COLUMNS and temporary not in line] == []
