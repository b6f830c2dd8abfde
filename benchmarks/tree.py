"""A command with all that it starts: `python -m benchmarks.tree COMMAND…` prints the CPU seconds of
all of them, also of processes that outlive their parents. Linux only."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Sequence

_PR_SET_CHILD_SUBREAPER = 36


def tree_cpu(command: Sequence[str]) -> float:
    """CPU seconds of a command and of every process below it."""
    measured = [sys.executable, "-m", "benchmarks.tree", *command]
    done = subprocess.run(measured, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    """Run a command, wait for whoever it leaves behind, and print what all of them took."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    main()
