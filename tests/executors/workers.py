"""The processes of a run's workers, as the system knows them."""

import os
import select
from pathlib import Path

import psutil


def find_children(parent: int) -> list[int]:
    """The processes that a process is the parent of."""
    try:
        return [child.pid for child in psutil.Process(parent).children()]
    except psutil.NoSuchProcess:
        return []


def find_processes(run: int) -> list[int]:
    """The workers of a run with `--processes`."""
    return [pid for pid in find_children(run) if "executors.worker" in command_of(pid)]


def command_of(pid: int) -> str:
    """What a process was started as; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def await_end(descriptor: int) -> None:
    """Wait until a process has ended."""
    ready, _, _ = select.select([descriptor], [], [], 60)
    os.close(descriptor)
    assert ready, "it is still there"
