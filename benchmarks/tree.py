"""A command with all that it starts: `python -m benchmarks.tree COMMAND…` prints the CPU seconds of
all of them. Linux only.

Processes are looked at while they run, twenty times a second: what their parents are told at their
end leaves out those whose parent doesn't want to know, as Ray's doesn't.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_S = 0.05


def tree_cpu(command: Sequence[str]) -> float:
    """CPU seconds of a command and of every process below it."""
    measured = [sys.executable, "-m", "benchmarks.tree", *command]
    done = subprocess.run(measured, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    """Run a command, with whoever it leaves behind, and print what all of them took."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    seen: dict[tuple[int, int], float] = {}
    while _look_at_all(seen):
        time.sleep(_LOOK_S)
    if process.wait():
        sys.exit(process.returncode)
    print(sum(seen.values()))


def _look_at_all(seen: dict[tuple[int, int], float]) -> bool:
    at_work = [_look(seen, pid) for pid in _below(os.getpid())]
    return any(at_work)


def _below(parent: int) -> Iterator[int]:
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(parent).children(recursive=True):
            yield process.pid


def _look(seen: dict[tuple[int, int], float], pid: int) -> bool:
    """Note what a process has taken so far; whether it is still at work."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return True  # it has ended just now: look again
    taken = int(fields[11]) + int(fields[12])
    seen[pid, int(fields[19])] = taken / os.sysconf("SC_CLK_TCK")
    return fields[0] != b"Z"


if __name__ == "__main__":
    main()
