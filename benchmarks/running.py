"""What the engine adds to the work of a target, with every result on disk; and others beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import command_cpu
from benchmarks.sums import SLOW_S, run_command, run_s, write_project

CASES, SLOW_TRIALS = 10_000, 1_000
BARS = {20: 1.10, 100: 1.25}
ROUNDS, PEER_ROUNDS = 3, 2

PEERS = {
    "pydantic-evals": ("pydantic_evals", "pydantic_evals_run.py", CASES),
    # These two would take minutes for as many.
    "Inspect AI": ("inspect_ai", "inspect_run.py", 1_000),
    "DeepEval": ("deepeval", "deepeval_run.py", 1_000),
}
INTERPRETERS = "EVALCASE_BENCH_PEERS"


def running_figures(folder: Path) -> Iterator[Figure]:
    """CPU per case beyond a run of one, and wall time beside the least that is possible."""
    many = run_command(write_project(folder / "running", CASES), "python:adding:add")
    one = run_command(write_project(folder / "running-one", 1), "python:adding:add")
    yield _overhead("run overhead per case, checks and journal included", many, one, CASES, 0.2)
    project = write_project(folder / "running-slow", SLOW_TRIALS)
    for at_once, bar in BARS.items():
        took_s = min(run_s(project, "python:adding:add_slowly", at_once) for _ in range(ROUNDS))
        yield _against_ideal(f"{SLOW_TRIALS:,} trials of 50 ms", took_s, at_once, bar)


def peer_run_figures(folder: Path) -> Iterator[Figure]:
    """The same of other tools, where some interpreter has them."""
    del folder
    for name, (module, file, count) in PEERS.items():
        python = _interpreter_with(module)
        if python is None:
            print(f"{name}: not measured; {INTERPRETERS} names interpreters that may have it")
            continue
        script = [python, str(Path(__file__).parent / "peers" / file)]
        few = [*script, "1", "10", "0"]
        many = [*script, str(count), "10", "0"]
        yield _overhead(f"{name}: run overhead per case, {count:,}", many, few, count)
        for at_once in BARS:
            slow = [*script, str(SLOW_TRIALS), str(at_once), str(SLOW_S)]
            took_s = min(_peer_s(slow) for _ in range(PEER_ROUNDS))
            yield _against_ideal(f"{name}: {SLOW_TRIALS:,} trials of 50 ms", took_s, at_once)


def _overhead(
    name: str, many: Sequence[str], one: Sequence[str], count: int, bar: float | None = None
) -> Figure:
    rounds = [(command_cpu(many), command_cpu(one)) for _ in range(ROUNDS)]
    whole, start = (min(column) for column in zip(*rounds, strict=True))
    each_ms = (whole - start) / (count - 1) * 1000
    return Figure(name, each_ms, "ms", bar, f"{whole:.2f} s - {start:.2f} s")


def _against_ideal(name: str, took_s: float, at_once: int, bar: float | None = None) -> Figure:
    ideal_s = SLOW_TRIALS / at_once * SLOW_S
    detail = f"{took_s:.2f} s / {ideal_s:.2f} s"
    return Figure(f"{name}, {at_once} at once ÷ ideal", took_s / ideal_s, "×", bar, detail)


def _interpreter_with(module: str) -> str | None:
    named = filter(None, os.environ.get(INTERPRETERS, "").split(os.pathsep))
    for python in (sys.executable, *named):
        look = [python, "-c", f"import importlib.util as u; assert u.find_spec({module!r})"]
        if subprocess.run(look, capture_output=True, check=False).returncode == 0:
            return python
    return None


def _peer_s(command: Sequence[str]) -> float:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["passed"] == SLOW_TRIALS, report
    return float(report["wall_s"])
