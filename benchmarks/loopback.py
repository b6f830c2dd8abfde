"""Requests to a server on the same machine: a run beside a bare client of the same library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.serving import started
from benchmarks.sums import run_s, write_project

TRIALS, ROUNDS, BAR = 1_000, 3, 1.3


def loopback_figures(folder: Path) -> Iterator[Figure]:
    """Both take turns, in processes of their own, and both import the library while they are timed.

    The server answers after 50 ms, and is a process of its own, too.
    """
    with started("benchmarks.loopback_server") as url:
        config = f'[targets.sums]\nkind = "http"\nurl = "{url}"\nanswer = "answer"\n'
        project = write_project(folder / "loopback", TRIALS, config)
        for at_once in (20, 100):
            rounds = [
                (run_s(project, "sums", at_once), _bare_s(url, at_once)) for _ in range(ROUNDS)
            ]
            run, bare = (min(column) for column in zip(*rounds, strict=True))
            name = f"{TRIALS:,} requests of 50 ms, {at_once} at once ÷ a bare client"
            yield Figure(name, run / bare, "×", BAR, f"{run:.2f} s / {bare:.2f} s")


def _bare_s(url: str, at_once: int) -> float:
    command = [sys.executable, "-m", "benchmarks.loopback_client", url, str(TRIALS), str(at_once)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["wall_s"])
