"""What the engine adds to the work of a target, with every result on disk."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import command_cpu

CASES = 10_000
SLOW_TRIALS, SLOW_S = 1_000, 0.05
ROUNDS = 3

AGENT = f"""
import asyncio


async def add(question):
    first, second = question.removeprefix("What is ").rstrip("?").split("+")
    return str(int(first) + int(second))


async def add_slowly(question):
    await asyncio.sleep({SLOW_S})
    return await add(question)
"""


def running_figures(folder: Path) -> Iterator[Figure]:
    """CPU per case beyond start-up, and wall time beside the least that is possible."""
    project = _project(folder / "running")
    whole = min(command_cpu(_command(project, "add", CASES)) for _ in range(ROUNDS))
    start = min(command_cpu(_command(project, "add", 1)) for _ in range(ROUNDS))
    each_ms = (whole - start) / (CASES - 1) * 1000
    detail = f"{whole:.2f} s - {start:.2f} s"
    yield Figure("run overhead per case, checks and journal included", each_ms, "ms", 0.2, detail)
    for concurrency, bar in ((20, 1.10), (100, 1.25)):
        ideal_s = SLOW_TRIALS / concurrency * SLOW_S
        took_s = min(_run_s(project, concurrency) for _ in range(ROUNDS))
        name = f"{SLOW_TRIALS:,} trials of 50 ms, {concurrency} at once ÷ ideal"
        yield Figure(name, took_s / ideal_s, "×", bar, f"{took_s:.2f} s / {ideal_s:.2f} s")


def _project(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "evalcase.toml").write_text("")
    (folder / "adding.py").write_text(AGENT)
    with (folder / "sums.eval.jsonl").open("w") as file:
        for number in range(CASES):
            question = f"What is {number}+{number + 1}?"
            case = {
                "id": f"sum-{number}",
                "input": question,
                "expected_output": f"{2 * number + 1}",
            }
            file.write(json.dumps(case) + "\n")
    return folder


def _command(project: Path, function: str, limit: int, *more: str) -> list[str]:
    code = "import os, sys; os.chdir(sys.argv.pop(1)); from evalcase.cli.main import main; main()"
    arguments = ["run", "--target", f"python:adding:{function}", "--limit", str(limit), "--json"]
    return [sys.executable, "-c", code, str(project), *arguments, *more]


def _run_s(project: Path, concurrency: int) -> float:
    """Wall seconds of the run itself, as it reports them."""
    command = _command(project, "add_slowly", SLOW_TRIALS, "--concurrency", str(concurrency))
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["duration_s"])
