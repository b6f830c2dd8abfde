"""A process to the memory it holds, where the system tells."""

from __future__ import annotations

import os


def resident_bytes(pid: int | str | None) -> int | None:
    """What a process has in memory right now; `self` is this one."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
