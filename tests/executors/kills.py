"""Runs that are killed at random, again and again: their workers, their nodes, or the process of
the run. What is killed when comes from a seed, so that it can be done once more."""

import os
import re
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random
from time import monotonic, sleep
from typing import Any

from tests.cli.command import LIMIT_S
from tests.run.project import Project, case

_ANNOUNCED = re.compile(rb"^failed (c\d+)", re.MULTILINE)

POINTS = int(os.environ.get("EVALCASE_KILLS", "8"))
"""At how many points a run is killed; `make kills` takes a hundred."""
MANY = 20
"""From so many on it is the long form, which takes minutes."""
SEED = int(os.environ.get("EVALCASE_KILL_SEED", "1"))
_MOST_LATE_S = 0.05
"""How long after a result at most: kills are to come between results, too."""
_SPARE = 3
"""How many times as many cases there are as have to be awaited."""
Kill = Callable[[int], bool]
"""Kills something of a run, whose own process is given; False if there was nothing to kill."""


class KilledRun:
    """A run that is killed at so many points, and resumed after each kill of its own process."""

    def __init__(self, project: Project, engine: Sequence[str], kills: Mapping[str, Kill]) -> None:
        """`kills` has what can be killed beside the process of the run."""
        self.project = project
        self._engine = engine
        self._kills = kills
        self._random = Random(SEED)
        self.announced: set[str] = set()
        self.killed: Counter[str] = Counter()

    def go(self, points: int, between: int = 6, each_s: float = 0.02) -> None:
        """Kill at so many points, with a few results before each, which take so long."""
        count = (points + 2) * between * _SPARE
        self.project.suite(*[_case(number, each_s) for number in range(count)])
        process = self._start("run")
        try:
            for what in self._deal(points):
                self._await(process, self._random.randint(1, between))
                sleep(self._random.uniform(0, _MOST_LATE_S))
                if what == "run":
                    self._end(process)
                    process = self._start("resume")
                    continue
                while process.poll() is None and not self._kills[what](process.pid):
                    self._await(process, 1)  # those that were killed before are not there yet
                self.killed[what] += process.poll() is None
        finally:
            self._end(process)

    def finish(self, *engine: str, by_rule: bool = True) -> None:
        """Run what is left. Every trial is in the record, once; what was announced is there. One
        that was killed twice while it was alone is errored, by the rule, and run again; not only
        by the rule where kills have other effects."""
        done = self.project.run("resume", "--json", *(engine or self._engine))
        results = self.project.rows()
        rows = [row["case"] for row in results]
        assert len(self.project.runs()) == 1
        assert len(rows) == len(set(rows)) == done.json["total"]
        errors = [row["failure"] for row in results if row["verdict"] == "errored"]
        if by_rule:
            assert {error["kind"] for error in errors} <= {"exit"}, errors
        if errors:
            self.killed["trial, for good"] = len(errors)
            done = self.project.run("resume", "latest", "--json", "--retry-errored")
        assert done.counts() == {"failed": len(rows)}, done.out + done.err
        assert self.announced <= set(rows)
        assert min(self.killed[what] for what in ("run", *self._kills)) > 0, self.killed
        sys.stderr.write(f"\nkilled with seed {SEED}: {dict(self.killed)}, {len(rows)} results\n")

    def _deal(self, points: int) -> list[str]:
        """What to kill at each point: a third the run, the rest by turns; in no order."""
        others = list(self._kills)
        dealt = [
            "run" if number % 3 == 0 or not others else others[number // 2 % len(others)]
            for number in range(points)
        ]
        self._random.shuffle(dealt)
        return dealt

    def _start(self, command: str) -> subprocess.Popen[bytes]:
        return self.project.start(command, *self._engine, out=subprocess.DEVNULL)

    def _await(self, process: subprocess.Popen[bytes], count: int) -> None:
        """Wait until so many more results are announced, or the run has come to its end."""
        assert process.stderr is not None
        said, until = b"", monotonic() + 2 * LIMIT_S
        while len(_ANNOUNCED.findall(said)) < count:
            ready, _, _ = select.select([process.stderr], [], [], LIMIT_S)
            assert ready, f"it said only {said!r}"
            assert monotonic() < until, f"it hangs, and says {said!r}"
            more = os.read(process.stderr.fileno(), 65536)
            if not more:
                break
            said += more
        self.announced |= {name.decode() for name in _ANNOUNCED.findall(said)}

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self.killed["run"] += process.poll() is None
        process.kill()
        said = process.communicate()[1]
        # The last line may itself be cut off; then it was not announced.
        whole = said.rpartition(b"\n")[0]
        self.announced |= {name.decode() for name in _ANNOUNCED.findall(whole)}


def _case(number: int, each_s: float) -> dict[str, Any]:
    """One that fails, so that its end is announced; some are conversations that are remembered."""
    id = f"c{number}"
    if number % 5:
        return case(id, f"{each_s}", target="slow")
    turns = [{"input": text, "expected_output": "no"} for text in ("a", "b")]
    return {"id": id, "target": "remembers", "turns": turns}


def kill_one_of(find: Callable[[int], Sequence[int]]) -> Kill:
    """Kills one of the processes that a run has found."""
    random = Random(SEED)

    def kill(run: int) -> bool:
        workers = find(run)
        with suppress(ProcessLookupError, IndexError):
            os.kill(random.choice(workers), signal.SIGKILL)
            return True
        return False

    return kill
