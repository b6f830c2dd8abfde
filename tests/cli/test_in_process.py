"""The command in the process of the tests is the command: the same comes of it, and none of it is
seen by the next test."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import warnings
from pathlib import Path

import pytest

from tests.cli import in_process
from tests.cli.command import environment, evalcase, evalcase_process
from tests.cli.in_process import run_in_process
from tests.run.project import Project, case


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
    for name, run in (("inside", evalcase), ("apart", evalcase_process)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "good.eval.yaml").write_text("- {input: hé, expected_output: hé, id: ä}\n")
        (folder / "old.eval.yaml").write_text("- {input_messages: hi, outcome: x}\n")
        results.append(run(*arguments, cwd=folder, stdin=b"- input_messages: \xc3\xa9\n"))
    assert results[0] == results[1]


def test_a_run_comes_to_the_same_as_in_a_process(project: Project) -> None:
    project.suite(case("good"), case("bad", "say no"), case("broken", "raise oh"))
    inside, apart = (run("run", "--json") for run in (project.run, project.run_process))
    assert (inside.code, inside.err, inside.counts()) == (apart.code, apart.err, apart.counts())
    assert len(project.calls()) == 6


def surroundings() -> dict[str, object]:
    """What a run might change for those after it."""
    return {
        "environment": dict(os.environ),
        "folder": Path.cwd(),
        "path": sys.path[:],
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "arguments": sys.argv,
        "agent": "agent" in sys.modules,
        "log": (logging.root.handlers[:], logging.root.level),
        "warnings": warnings.filters[:],
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
    }


def test_nothing_of_it_stays_behind(project: Project) -> None:
    project.add_to_agent(
        """
import logging

logging.basicConfig(level=logging.DEBUG)
logging.warning("set up")
os.environ["LEFT"] = "behind"
sys.path.append("elsewhere")
"""
    )
    (project.path / "keys.env").write_text("ALSO_LEFT=behind\n")
    project.suite(case("a"))
    before = surroundings()
    done = project.run("run", "--env-file", "keys.env")
    assert (done.code, "WARNING:root:set up" in done.err) == (0, True)
    assert surroundings() == before


def test_user_code_is_what_it_is_in_the_files_by_now(project: Project) -> None:
    project.suite({"id": "a", "input": "say ok", "graders": ["python:grader:grade"]})
    for number, verdict in enumerate(("True", "False", "1 > 2", "True")):
        (project.path / "grader.py").write_text(f"def grade(text):\n    return {verdict}\n")
        # The cache of compiled files knows them by size and second.
        os.utime(project.path / "grader.py", (number, number))
        assert project.run("run", "--quiet").code == (0 if verdict == "True" else 1)


def test_an_error_that_nobody_caught_is_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(in_process, "run_command_line", crash)
    ended = run_in_process([], cwd=None, env=environment())
    assert ended.code == 1
    assert ended.stderr.endswith(b"ZeroDivisionError\n")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        evalcase("check")


def test_one_that_hangs_is_ended_and_says_where_it_was(project: Project) -> None:
    project.add_to_agent(
        """
import signal

def hang():
    signal.setitimer(signal.ITIMER_REAL, 0.01)  # the limit of every test
    threading.Event().wait()

hang()
"""
    )
    project.suite(case("a"))
    # Even what ends a test is an error of the module that was being imported.
    done = project.run("run")
    assert done.code == 2
    assert re.search(r"(?s)Failed: it hangs.*agent\.py.*in hang", done.err)
