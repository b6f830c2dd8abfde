"""The command in the process of the tests, or in one that is forked, is the command: the same comes
of it, and none of it is seen by the next test."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import warnings
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.cli.command import (
    LIMIT_S,
    Result,
    evalcase,
    evalcase_process,
    start_process,
)
from tests.cli.forked_process import ForkedProcess
from tests.run.project import Project, case, finish


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


ABOUT_ITSELF = """
import json, os, signal, sys, time

def kind(name):
    what = os.path.basename(os.path.realpath(f"/proc/self/fd/{name}")).split(":")[0]
    return what if what in ("socket", "pipe") else None

def answer(question):
    about = {
        "signals": [str(signal.getsignal(number) or 0).split(" at ")[0]
                    for number in signal.valid_signals()],
        "blocked": [*map(str, signal.pthread_sigmask(signal.SIG_BLOCK, ()))],
        "descriptors": sorted(filter(None, map(kind, os.listdir("/proc/self/fd")))),
        "path": sys.path, "arguments": sys.argv, "main": sys.modules["__main__"].__file__,
        "flags": str(sys.flags), "cwd": os.getcwd(), "environment": dict(os.environ),
        "streams": [[each.name, each.mode, each.encoding, each.errors, each.line_buffering,
                     each.fileno()] for each in (sys.__stdin__, sys.__stdout__, sys.__stderr__)],
        "tests": [name for name in sys.modules if name.startswith("tests")],
        "zone": time.tzname, "umask": os.umask(0o22),
    }
    with open(f"{os.getpid()}.json", "w") as file:
        json.dump(about, file)
    return "x"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked")
def test_a_forked_process_can_not_be_told_from_one_that_began_with_python(project: Project) -> None:
    (project.path / "itself.py").write_text(ABOUT_ITSELF)
    project.suite({"id": "a", "input": "x", "expected_output": "x"})
    arguments, env = ("run", "--quiet", "--target", "python:itself:answer"), {"TZ": "Asia/Tokyo"}
    forked, fresh = (project.start(*arguments, env=env, fresh=fresh) for fresh in (False, True))
    assert (type(forked), type(fresh)) == (ForkedProcess, Popen)
    assert [finish(process).code for process in (forked, fresh)] == [0, 0]
    seen = [
        json.loads((project.path / f"{process.pid}.json").read_text())
        for process in (forked, fresh)
    ]
    assert seen[0] == seen[1]


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
