"""What the engine adds to the work of a target, with every result on disk; and others beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from benchmarks.figures import Figure
from benchmarks.measure import command_cpu
from benchmarks.sums import SLOW_S, command, newest_run, run_command, run_s, write_project

CASES, SLOW_TRIALS = 10_000, 1_000
BARS = {20: 1.06, 100: 1.15}
PLAIN_BARS = {10: 1.5, 100: 1.1}
ROUNDS, PEER_ROUNDS = 7, 2

PEERS = {
    "pydantic-evals": ("pydantic_evals", "pydantic_evals_run.py", CASES),
    # These two would take minutes for as many.
    "Inspect AI": ("inspect_ai", "inspect_run.py", 1_000),
    "DeepEval": ("deepeval", "deepeval_run.py", 1_000),
}
INTERPRETERS = "EVALCASE_BENCH_PEERS"

_Pair: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""A command for many cases, and for one."""


def running_figures(folder: Path) -> Iterator[Figure]:
    """CPU per case beyond a run of one, and wall time beside the least that is possible."""
    large = write_project(folder / "running", CASES)
    single = write_project(folder / "running-one", 1)
    yield from _beside_floor(large, single)
    for at_once, bar in PLAIN_BARS.items():
        yield _plain_target(large, single, at_once, bar)
        yield _plain_grader(folder, at_once, bar)
    yield _resumed(large)
    project = write_project(folder / "running-slow", SLOW_TRIALS)
    for at_once, bar in BARS.items():
        took_s = min(run_s(project, "python:adding:add_slowly", at_once) for _ in range(ROUNDS))
        yield _against_ideal(f"{SLOW_TRIALS:,} trials of 50 ms", took_s, at_once, bar)


def _beside_floor(large: Path, single: Path) -> Iterator[Figure]:
    """CPU per case beyond a run of one, of the command and of the least that a run has to do."""
    target = "python:adding:add"
    floor = [sys.executable, str(Path(__file__).parent / "floor.py")]
    shown = ("run", "--target", target)
    pairs: dict[str, _Pair] = {
        "json": (run_command(large, target), run_command(single, target)),
        "human": (command(large, *shown), command(single, *shown)),
        "floor": ([*floor, str(large)], [*floor, str(single)]),
    }  # fmt: skip
    each_ms = _per_case(pairs)
    json_ms, human_ms, floor_ms = each_ms["json"], each_ms["human"], each_ms["floor"]
    yield Figure("run: CPU per case, checks, journal and totals included", json_ms, "ms")
    yield _quotient("run ÷ the least that a durable run has to do", json_ms, floor_ms, 2.0)
    yield _quotient("run with output for people ÷ with --json", human_ms, json_ms, 1.3)


def _plain_target(large: Path, single: Path, at_once: int, bar: float) -> Figure:
    pairs = {
        name: _commands(large, single, f"python:adding:{function}", at_once)
        for name, function in (("plain", "add_plainly"), ("async", "add"))
    }
    return _plain_beside_async("target", pairs, at_once, bar)


def _plain_grader(folder: Path, at_once: int, bar: float) -> Figure:
    """The same for what grades: its target is async."""
    pairs = {}
    for name, function in (("plain", "is_sum"), ("async", "is_sum_async")):
        projects = [write_project(folder / f"grading-{name}-{n}", n) for n in (CASES, 1)]
        for project in projects:
            (project / "sums.eval.suite.yaml").write_text(f"graders: [python:adding:{function}]\n")
        large, single = projects
        pairs[name] = _commands(large, single, "python:adding:add", at_once)
    return _plain_beside_async("grader", pairs, at_once, bar)


def _commands(large: Path, single: Path, target: str, at_once: int) -> _Pair:
    return run_command(large, target, at_once), run_command(single, target, at_once)


def _plain_beside_async(what: str, pairs: dict[str, _Pair], at_once: int, bar: float) -> Figure:
    each_ms = _per_case(pairs)
    name = f"a plain {what} ÷ an async one, {at_once} at once"
    return _quotient(name, each_ms["plain"], each_ms["async"], bar)


def _resumed(large: Path) -> Figure:
    """To find that nothing is left of a run, beside the run."""
    run = run_command(large, "python:adding:add")
    command_cpu(run)
    resume = command(large, "resume", newest_run(large), "--json")
    rounds = [(command_cpu(run), command_cpu(resume)) for _ in range(ROUNDS)]
    ran, resumed = (min(column) for column in zip(*rounds, strict=True))
    detail = f"{resumed:.2f} s / {ran:.2f} s"
    return Figure("resume of a finished run ÷ the run", resumed / ran, "×", 0.5, detail)


def _per_case(pairs: dict[str, _Pair]) -> dict[str, float]:
    """Milliseconds of CPU for each further case, taking turns, the best of several rounds."""
    best = {name: (float("inf"), float("inf")) for name in pairs}
    for _ in range(ROUNDS):
        for name, (many, one) in pairs.items():
            whole, start = best[name]
            best[name] = min(whole, command_cpu(many)), min(start, command_cpu(one))
    return {name: (whole - start) / (CASES - 1) * 1000 for name, (whole, start) in best.items()}


def _quotient(name: str, work_ms: float, beside_ms: float, bar: float) -> Figure:
    detail = f"{work_ms * 1000:.0f} µs / {beside_ms * 1000:.0f} µs"
    return Figure(name, work_ms / beside_ms, "×", bar, detail)


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
