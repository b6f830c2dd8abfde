"""Requests to a server on the same machine: a run beside a bare client of the same library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, ratio
from benchmarks.measure import command_cpu
from benchmarks.serving import started
from benchmarks.sums import run_command, run_s, write_project

TRIALS, ROUNDS = 1_000, 3
BARS, CPU_BAR = {20: 1.3, 100: 1.15}, 2.0


def loopback_figures(folder: Path) -> Iterator[Figure]:
    """Both take turns, in processes of their own, and both import the library while they are timed.

    The server answers after 50 ms, and is a process of its own, too.
    """
    with started("benchmarks.loopback_server") as url:
        project = write_project(folder / "loopback", TRIALS, _config(url))
        for at_once, bar in BARS.items():
            rounds = [
                (run_s(project, "sums", at_once), _bare_s(url, at_once)) for _ in range(ROUNDS)
            ]
            run, bare = (min(column) for column in zip(*rounds, strict=True))
            name = f"{TRIALS:,} requests of 50 ms, {at_once} at once ÷ a bare client"
            yield Figure(name, run / bare, "×", bar, f"{run:.2f} s / {bare:.2f} s")
        yield _cpu(project, url)


def _cpu(project: Path, url: str) -> Figure:
    """CPU at 100 at once, less that of one request: start-up and imports are no work."""
    single = write_project(project.with_name("loopback-one"), 1, _config(url))
    best = [float("inf")] * 4
    for _ in range(ROUNDS):
        commands = (
            run_command(project, "sums", 100), run_command(single, "sums", 1),
            _bare(url, TRIALS, 100), _bare(url, 1, 1),
        )  # fmt: skip
        best = [min(pair) for pair in zip(best, map(command_cpu, commands), strict=True)]
    run, bare = best[0] - best[1], best[2] - best[3]
    return ratio(f"the same, CPU, {TRIALS:,} requests, 100 at once", run, bare, CPU_BAR)


def _config(url: str) -> str:
    return f'[targets.sums]\nkind = "http"\nurl = "{url}"\nanswer = "answer"\n'


def _bare(url: str, count: int, at_once: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.loopback_client", url, str(count), str(at_once)]


def _bare_s(url: str, at_once: int) -> float:
    command = _bare(url, TRIALS, at_once)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["wall_s"])
