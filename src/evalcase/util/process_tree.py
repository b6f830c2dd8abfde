"""The end of a child process and of all that it started, wherever in the system that went.

Each child has a token in its environment, which its descendants inherit: so they are found by
psutil, even if they have left its session and their parent is gone. A child that has cleared its
environment and was orphaned is not found.

If evalcase itself is killed, a guard ends its children: this file, run as a program.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from itertools import count

import psutil

TOKEN = "EVALCASE_PROCESS"  # noqa: S105 - the name of a variable, and no secret
_ROUNDS = 100
_numbers = count(1)
_owner = ""


def new_token() -> str:
    """A token for one family, and no other of this process or another. The first one of a process
    starts its guard."""
    global _owner  # noqa: PLW0603 - it names this process; a forked one needs another
    if not _owner.startswith(f"{os.getpid()}-"):
        _owner = f"{os.getpid()}-{os.urandom(4).hex()}-"
        _start_guard()
    return f"{_owner}{next(_numbers)}."


def _start_guard() -> None:
    argv = [sys.executable, "-I", __file__, str(os.getpid()), _owner]
    null = subprocess.DEVNULL
    with suppress(OSError):  # without a guard, what a kill leaves behind stays
        # A session of its own, so that it outlives what is done to the terminal or the group.
        guard = subprocess.Popen(  # noqa: S603 - this Python and this file
            argv, stdin=null, stdout=null, stderr=null, cwd=os.path.abspath(os.sep),
            start_new_session=True,
        )  # fmt: skip
        atexit.register(_end_guard, guard, os.getpid())


def _end_guard(guard: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() == owner:
        guard.kill()
        guard.wait()


def end_family(
    token: str, root: psutil.Process | None = None, since: float | None = None
) -> set[psutil.Process]:
    """Kill every process whose token begins like this, the root, and all that descends from them.
    They are returned: they may take a moment to end. Only processes that began later than `since`
    are looked at; by default, later than this process."""
    born = psutil.Process().create_time() if since is None else since
    members: set[psutil.Process] = set()
    # All are stopped first: a shell whose child is killed would go on with its next command. One
    # may have forked before it was stopped, and as long as it is there, its child is found by it.
    for _ in range(_ROUNDS):
        known = members if root is None else {root, *members}
        new = _find_family(token, known, born) - members
        for each in new:
            with suppress(psutil.Error):
                each.suspend()
        members |= new
        if not new:
            break
    for each in members:
        with suppress(psutil.Error):
            each.kill()
    return members


def _find_family(token: str, known: set[psutil.Process], born: float) -> set[psutil.Process]:
    young: list[tuple[psutil.Process, int]] = []
    found: set[psutil.Process] = set()
    for pid in psutil.pids():
        with suppress(psutil.Error, OSError):  # it has just ended, or is of another user
            each = psutil.Process(pid)
            if pid == os.getpid() or each.create_time() < born:
                continue
            young.append((each, each.ppid()))
            if each in known or each.environ().get(TOKEN, "").startswith(token):
                found.add(each)
    while True:
        pids = {each.pid for each in found}
        more = {each for each, parent in young if parent in pids} - found
        if not more:
            return {each for each in found if not has_ended(each)}
        found |= more


def has_ended(process: psutil.Process) -> bool:
    """Whether a process is gone, or only waits for its parent to see that."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return True


def find_process(pid: int | None) -> psutil.Process | None:
    """A process by its number; None if it has ended."""
    try:
        return None if pid is None else psutil.Process(pid)
    except psutil.Error:
        return None


if __name__ == "__main__":
    # The guard waits for the end of evalcase, and ends its children.
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(sys.argv[1])).wait()
    end_family(sys.argv[2], since=0.0)
