"""Counted instructions instead of CPU time, for work whose bar is so near that a busy machine hides
it: the same figure on every run, by valgrind's callgrind.

What starting takes is left out: it is the difference between a small job and a larger one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.generate import write
from benchmarks.sums import command, newest_run, run_command, write_project

FEW, MANY = 500, 2_500
RUN_FEW, RUN_MANY = 200, 1_200


def instruction_figures(folder: Path) -> Iterator[Figure]:
    """Loading, streaming and running, beside the least that each has to do."""
    if shutil.which("valgrind") is None:
        print("instructions: not counted; valgrind does it, and is not installed")
        return
    yield from _loading(folder)
    yield from _running(folder / "instructions")


def _loading(folder: Path) -> Iterator[Figure]:
    drained = _of_job("drain_yaml", folder, ".yaml")
    loaded = _of_job("load", folder, ".yaml")
    yield _times("load a YAML case ÷ draining CParser events", loaded, drained, 1.5)
    drained = _of_job("drain_yaml", folder, ".deprecated.yaml")
    loaded = _of_job("load", folder, ".deprecated.yaml")
    yield _times("load a YAML case, two warnings ÷ draining", loaded, drained, 3.5)
    parsed = _of_job("parse_json_lines", folder, ".jsonl")
    streamed = _of_job("stream_cases", folder, ".jsonl")
    yield _times("stream a JSONL case ÷ json.loads", streamed, parsed, 2.0)


def _running(folder: Path) -> Iterator[Figure]:
    few, many = write_project(folder / "few", RUN_FEW), write_project(folder / "many", RUN_MANY)

    def beyond(make: Callable[[Path], Sequence[str]]) -> float:
        return (_count(make(many)) - _count(make(few))) / (RUN_MANY - RUN_FEW)

    floor = [sys.executable, str(Path(__file__).parent / "floor.py")]
    least = beyond(lambda project: [*floor, str(project)])
    ran = beyond(lambda project: run_command(project, "python:adding:add"))
    yield _times("run a case ÷ the least that a durable run has to do", ran, least, 2.0)
    resumed = beyond(lambda project: command(project, "resume", newest_run(project), "--json"))
    yield _times("resume a finished case ÷ run it", resumed, ran, 0.3)


def _of_job(name: str, folder: Path, ending: str) -> float:
    """Instructions of a job of `benchmarks.work` for each further case."""
    few, many = (
        _count([sys.executable, "-m", "benchmarks.work", name, str(write(folder, count, ending))])
        for count in (FEW, MANY)
    )
    return (many - few) / (MANY - FEW)


def _count(command: Sequence[str]) -> int:
    """The instructions of a whole command, with the same order of sets and dictionaries."""
    subprocess.run(command, check=True, capture_output=True)  # what is compiled is kept by now
    counted = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(
        counted,
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "0"},
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


def _times(name: str, work: float, yardstick: float, bar: float) -> Figure:
    detail = f"{work / 1e3:.1f} k / {yardstick / 1e3:.1f} k instructions"
    return Figure(f"{name}, instructions", work / yardstick, "×", bar, detail)
