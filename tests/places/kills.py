"""Runs that are killed at random, again and again: their workers, or the process of the run."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

from tests.cli.command import LIMIT_S
from tests.run.project import Project, case

_ANNOUNCED = re.compile(rb"^failed (c\d+)", re.MULTILINE)

POINTS = int(os.environ.get("EVALCASE_KILLS", "8"))
"""At how many points a run is killed; `make fuzz` takes a hundred."""
FindWorkers = Callable[[int], Sequence[int]]
"""The processes that answer for a run, whose own process is given."""


class KilledRun:
    """A run that is killed at so many points, and resumed after each kill of its own process."""

    def __init__(
        self, project: Project, engine: Sequence[str], find_workers: FindWorkers, seed: int
    ) -> None:
        self.project = project
        self._engine = engine
        self._find_workers = find_workers
        self._random = Random(seed)
        self.announced: set[str] = set()
        self.killed = {"worker": 0, "run": 0}

    def go(self, points: int, between: int, last: Callable[[], None] | None = None) -> None:
        """Kill at so many points, with a few results before each; and after the `last`, whatever
        that kills, there are a few more."""
        count = (points + 2) * between
        self.project.suite(*[case(f"c{number}", "say no") for number in range(count)])
        process = self._start("run")
        try:
            for _ in range(points):
                self._await(process, self._random.randint(1, between))
                if self._random.random() < 0.3:
                    self._end(process)
                    process = self._start("resume")
                else:
                    self._kill_worker(process)
            if last is not None:
                self._await(process, 1)
                last()
                self._await(process, between // 2)
        finally:
            self._end(process)

    def finish(self, *engine: str) -> None:
        """Run what is left. Every trial is in the record, once; what was announced is there."""
        done = self.project.run("resume", "--json", *(engine or self._engine))
        rows = [row["case"] for row in self.project.rows()]
        assert len(rows) == len(set(rows)) == done.json["total"]
        assert done.counts() == {"failed": len(rows)}, done.err
        assert self.announced <= set(rows)

    def _start(self, command: str) -> subprocess.Popen[bytes]:
        return self.project.start(
            command, *self._engine, env={"PYTHONUNBUFFERED": "1"}, out=subprocess.DEVNULL
        )

    def _await(self, process: subprocess.Popen[bytes], count: int) -> None:
        """Wait until so many more results are announced, or the run has come to its end."""
        assert process.stderr is not None
        said = b""
        while len(_ANNOUNCED.findall(said)) < count:
            ready, _, _ = select.select([process.stderr], [], [], LIMIT_S)
            assert ready, f"it said only {said!r}"
            more = os.read(process.stderr.fileno(), 65536)
            if not more:
                break
            said += more
        self.announced |= {name.decode() for name in _ANNOUNCED.findall(said)}

    def _kill_worker(self, process: subprocess.Popen[bytes]) -> None:
        workers = self._find_workers(process.pid)
        if workers:
            with suppress(ProcessLookupError):
                os.kill(self._random.choice(workers), signal.SIGKILL)
                self.killed["worker"] += 1

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            self.killed["run"] += 1
        process.kill()
        said = process.communicate()[1]
        # The last line may itself be cut off; then it was not announced.
        whole = said.rpartition(b"\n")[0]
        self.announced |= {name.decode() for name in _ANNOUNCED.findall(whole)}
