"""Runs work in processes of its own and keeps the figure that is least disturbed by neighbours."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """What one piece of work took, at its best."""

    cpu_s: float
    base_bytes: int
    peak_bytes: int
    n: int

    @property
    def grown_bytes(self) -> int:
        """Peak memory beyond what the process had before the work."""
        return self.peak_bytes - self.base_bytes


def cost(job: str, path: Path) -> Cost:
    """Run one job of `benchmarks.work` on a file, in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.work", job, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Cost(**json.loads(done.stdout))


def best_costs(jobs: Sequence[tuple[str, Path]], rounds: int) -> list[Cost]:
    """The cheapest run of each job. Jobs take turns, so a busy spell hits them all."""
    runs = [[cost(job, path) for job, path in jobs] for _ in range(rounds)]
    return [min(column, key=lambda run: run.cpu_s) for column in zip(*runs, strict=True)]


def median_cpus(commands: Sequence[Sequence[str]], rounds: int) -> list[float]:
    """The median CPU seconds (user and system) of each whole command, taking turns."""
    runs = [[command_cpu(command) for command in commands] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*runs, strict=True)]


def command_cpu(command: Sequence[str]) -> float:
    """CPU seconds of a command from exec to exit."""
    return command_cost(command)[0]


def command_cost(command: Sequence[str], cwd: Path | None = None) -> tuple[float, int]:
    """The same, and the most bytes of memory that it has had."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=cwd)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss
