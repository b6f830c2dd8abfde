"""A project whose cases are sums: so little work for a target that the rest is evalcase's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SLOW_S = 0.05

AGENT = f"""
import asyncio
import time


async def add(question):
    first, second = question.removeprefix("What is ").rstrip("?").split("+")
    return str(int(first) + int(second))


def add_plainly(question):
    first, second = question.removeprefix("What is ").rstrip("?").split("+")
    return str(int(first) + int(second))


async def add_slowly(question):
    await asyncio.sleep({SLOW_S})
    return await add(question)


def add_busily(question):
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        pass
    return add_plainly(question)


def is_sum(text, expected):
    return text == expected


async def is_sum_async(text, expected):
    return text == expected
"""

_MAIN = "import os, sys; os.chdir(sys.argv.pop(1)); from evalcase.cli.main import main; main()"
# Where there is no /proc, the memory of the parent before it started this one counts, too.
_MEASURED = """
import os, sys
from benchmarks.work import peak_bytes
os.chdir(sys.argv.pop(1))
from evalcase.cli.main import main
try:
    main()
finally:
    print(peak_bytes(), file=sys.stderr)
"""


def write_project(folder: Path, count: int, config: str = "", tags: int = 0) -> Path:
    """Write a project with so many cases, in the place of an earlier one. With `tags`, each case
    has one of so many."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "evalcase.toml").write_text(config)
    (folder / "adding.py").write_text(AGENT)
    with (folder / "sums.eval.jsonl").open("w") as file:
        for number in range(count):
            question, expected = f"What is {number}+{number + 1}?", f"{2 * number + 1}"
            case = {"id": f"sum-{number}", "input": question, "expected_output": expected}
            if tags:
                case["tags"] = [f"tag-{number % tags}"]  # type: ignore[assignment]
            file.write(json.dumps(case) + "\n")
    return folder


def run_command(project: Path, target: str, at_once: int = 10) -> list[str]:
    """The command that runs all cases of a project."""
    return [sys.executable, "-c", _MAIN, *_arguments(project, target, at_once)]


def command(project: Path, *arguments: str) -> list[str]:
    """Any command in the folder of a project."""
    return [sys.executable, "-c", _MAIN, str(project), *arguments]


def run_s(project: Path, target: str, at_once: int, *flags: str) -> float:
    """Wall seconds of a run, as it reports them: without start-up and the checks before it."""
    command = [*run_command(project, target, at_once), *flags]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["duration_s"])


def run_peak_bytes(project: Path, target: str, at_once: int = 10) -> int:
    """The most memory that a run has had."""
    return _peak_bytes(_arguments(project, target, at_once))


def resume_peak_bytes(project: Path, run: str) -> int:
    """The most memory that it takes to find that nothing is left of a run."""
    return _peak_bytes([str(project), "resume", run, "--json"])


def command_cost(project: Path, *arguments: str) -> tuple[float, int]:
    """CPU seconds of any command, and the most memory that it has had."""
    measured = [sys.executable, "-c", _MEASURED, str(project), *arguments]
    process = subprocess.Popen(measured, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, measured, stderr=said)
    return usage.ru_utime + usage.ru_stime, int(said.split()[-1])


def _peak_bytes(arguments: list[str]) -> int:
    measured = [sys.executable, "-c", _MEASURED, *arguments]
    done = subprocess.run(measured, check=True, capture_output=True, text=True)
    return int(done.stderr.split()[-1])


def newest_run(project: Path) -> str:
    """The id of the last run of a project."""
    runs = (project / ".evalcase" / "runs").iterdir()
    return max(path.name for path in runs if path.is_dir())


def _arguments(project: Path, target: str, at_once: int) -> list[str]:
    return [str(project), "run", "--target", target, "--concurrency", str(at_once), "--json"]
