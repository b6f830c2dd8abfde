"""Where trials are answered, side by side: in the process of the run, in two others, and in Ray."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.sums import SLOW_S, run_command, run_s, write_project
from benchmarks.tree import tree_cpu

CASES, SLOW_TRIALS, BUSY_TRIALS, ROUNDS = 10_000, 1_000, 40, 3
BUSY_S = 0.1
HERE, PROCESSES, RAY = "in process", "two processes", "two workers of Ray"
FLAGS: dict[str, Sequence[str]] = {
    HERE: ("--engine", "in-process"),
    PROCESSES: ("--processes", "2"),
    RAY: ("--engine", "ray"),
}
BUSY: dict[str, Sequence[str]] = {
    HERE: ("--engine", "in-process"),
    "one process": ("--processes", "1"),
    PROCESSES: ("--processes", "2"),
}
ADDED_MS = {PROCESSES: 0.20, RAY: 1.0}
_RAY_CONFIG = '[engine]\nkind = "ray"\nworkers = 2\n'


def place_figures(folder: Path) -> Iterator[Figure]:
    """CPU of all processes for each trial; wall time of trials that wait, and that compute."""
    many, one = _project(folder, "many", CASES), _project(folder, "one", 1)
    slow = _project(folder, "slow", SLOW_TRIALS)
    busy = _project(folder, "busy", BUSY_TRIALS)
    for at_once in (20, 200):
        yield from _per_trial(many, one, at_once)
    for name in _places():
        for at_once in (20, 100):
            yield _waiting(name, slow, at_once)
    for name, flags in BUSY.items():
        took_s = min(run_s(busy, "python:adding:add_busily", 4, *flags) for _ in range(2))
        what = f"{name}: {BUSY_TRIALS} trials that compute for {BUSY_S:g} s, 4 at once, wall"
        yield Figure(what, took_s, "s", detail=f"{BUSY_TRIALS * BUSY_S:g} s of work")


def _project(folder: Path, name: str, count: int) -> Path:
    return write_project(folder / f"places-{name}", count, _RAY_CONFIG)


def _per_trial(large: Path, single: Path, at_once: int) -> Iterator[Figure]:
    here_ms = 0.0
    for name in _places():
        each_ms, start_s = _cost(name, large, single, at_once)
        here_ms = here_ms or each_ms
        what = f"{name}: CPU a trial, {CASES:,} trivial ones, {at_once} at once"
        if name == HERE:
            yield Figure(what, each_ms, "ms")
            continue
        bar = ADDED_MS[name] + here_ms if name == PROCESSES else ADDED_MS[name]
        detail = f"{each_ms - here_ms:.2f} ms beyond in process"
        yield Figure(what, each_ms, "ms", bar if at_once == 200 else None, detail)
        if at_once == 200:
            yield Figure(f"{name}: CPU of a run of one trial", start_s, "s")


def _cost(name: str, large: Path, single: Path, at_once: int) -> tuple[float, float]:
    """Milliseconds for each further trial, and seconds for a run of one."""
    rounds = 1 if name == RAY else ROUNDS
    costs = [
        [tree_cpu(_command(name, each, "python:adding:add", at_once)) for each in (large, single)]
        for _ in range(rounds)
    ]
    whole, start = (min(column) for column in zip(*costs, strict=True))
    return (whole - start) / (CASES - 1) * 1000, start


def _command(name: str, project: Path, target: str, at_once: int) -> list[str]:
    return [*run_command(project, target, at_once), *FLAGS[name]]


def _waiting(name: str, project: Path, at_once: int) -> Figure:
    flags = FLAGS[name]
    rounds = 1 if name == RAY else 2
    took_s = min(run_s(project, "python:adding:add_slowly", at_once, *flags) for _ in range(rounds))
    ideal_s = SLOW_TRIALS / at_once * SLOW_S
    what = f"{name}: {SLOW_TRIALS:,} trials of 50 ms, {at_once} at once ÷ ideal"
    return Figure(what, took_s / ideal_s, "×", detail=f"{took_s:.2f} s / {ideal_s:.2f} s")


def _places() -> Iterator[str]:
    for name in FLAGS:
        if name != RAY or find_spec("ray") is not None:
            yield name
        else:
            print(f"{name}: not measured; {sys.executable} has no Ray", file=sys.stderr)
