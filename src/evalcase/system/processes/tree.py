"""The end of a process and of all that it started, wherever in the system that went.

Killing a process group misses what has left the group, as every daemon does. On Linux evalcase
asks for orphans to become its own children (a subreaper), so that nothing started by a command
can leave the tree; they are told from other children by a token in their environment. The family
is stopped before it is killed, for else it could grow faster than it is found.

Two things stay out of reach: a daemon that has cleared its environment, and the zombie of one that
ended by itself. The latter has no mark any more, could be a child of the user's own code that will
be waited for, and so is left until evalcase ends.

What happens when evalcase itself is killed is in `guard`.

Elsewhere than on Linux the process group is all that can be had.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from itertools import count

from evalcase.system.processes import guard

TOKEN = "EVALCASE_PROCESS"  # noqa: S105 - the name of a variable, and no secret
_ROUNDS = 100
_PR_SET_CHILD_SUBREAPER = 36
_numbers = count(1)
_family = ""
_openers = 0
_late: set[int] = set()
"""Processes that were killed and whose end could not be waited for."""


def new_token() -> str:
    """A name for one family, different from that of any other, in this process or another."""
    return f"{_own_name()}-{next(_numbers)}"


def _own_name() -> str:
    """What the tokens of this process begin with, and those of no other."""
    global _family  # noqa: PLW0603 - it names the process; a forked one needs another
    if not _family.startswith(f"{os.getpid()}-"):
        _family = f"{os.getpid()}-{os.urandom(4).hex()}"
    return _family


def adopt_orphans() -> None:
    """Become the parent of what is orphaned below. Undone by as many `disown_orphans`."""
    global _openers  # noqa: PLW0603 - it counts a property that the whole process has
    _openers += 1
    if _openers == 1:
        _set_subreaper(1)
        guard.start(f"{TOKEN}={_own_name()}-")


def disown_orphans() -> None:
    global _openers  # noqa: PLW0603 - see above
    _openers -= 1
    if _openers == 0:
        _set_subreaper(0)
        guard.end()
    reap(_late)


def _set_subreaper(value: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    # Old kernels refuse: then orphans go to init, and only what is found in time is ended.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)


def end_family(root: int, token: str) -> set[int]:
    """Kill a process with all its descendants, at once, and return them for `reap`.

    `root` may be gone already, or be 0; whoever has started it waits for its end.
    """
    if sys.platform != "linux":
        _kill_group(root)
        return set()
    family: set[int] = set()
    quiet = 0
    for _ in range(_ROUNDS):
        found = _find_family(root, token) - family
        _signal(found, signal.SIGSTOP)
        family |= found
        # The kernel's list may miss one while another ends: it takes two looks to be sure.
        quiet = 0 if found else quiet + 1
        if quiet == 2:
            break
    _signal(family, signal.SIGKILL)
    return family - {root}


def reap(pids: set[int]) -> bool:
    """Take out of `pids` those that have ended, so that none stays a zombie. True if all have."""
    for pid in list(pids):
        try:
            ended, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            # Its parent has not died yet; or that parent has seen its end.
            ended = pid if not os.path.exists(f"/proc/{pid}") else 0
        if ended:
            pids.discard(pid)
    return not pids


def reap_later(pids: set[int]) -> None:
    """Remember those that take longer to end than anybody can wait."""
    _late.update(pids)
    reap(_late)


def _kill_group(root: int) -> None:
    if root == 0:
        return  # the system would take it for our own group
    try:
        os.killpg(root, signal.SIGKILL)
    except (OSError, AttributeError):
        return  # gone already; or Windows, where the process itself is killed by its owner


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue  # gone already, or of another user


def _find_family(root: int, token: str) -> set[int]:
    family: set[int] = set()
    mark = f"{TOKEN}={token}".encode()
    todo = [pid for pid in {root, *children(os.getpid())} if pid and _has_mark(pid, mark, root)]
    while todo:
        pid = todo.pop()
        if pid not in family:
            family.add(pid)
            todo += children(pid)
    return family


def _has_mark(pid: int, mark: bytes, root: int) -> bool:
    """Whether a process is of the family: by its session, or by its environment."""
    try:
        if os.getsid(pid) == root:
            return True
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def children(parent: int) -> Iterator[int]:
    """The processes that a process is the parent of."""
    if not _lists_children():
        yield from _scan(parent)
        return
    try:
        threads = os.listdir(f"/proc/{parent}/task")
    except OSError:
        return  # it has just ended
    for thread in threads:
        try:
            with open(f"/proc/{parent}/task/{thread}/children") as file:
                yield from map(int, file.read().split())
        except OSError:
            continue  # the thread has just ended


def _lists_children() -> bool:
    """Whether this kernel tells the children of a process, which is an option of its build."""
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _scan(parent: int) -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                yield int(name)
