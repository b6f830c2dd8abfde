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
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import NamedTuple

from evalcase.system.processes import guard

TOKEN = "EVALCASE_PROCESS"  # noqa: S105 - the name of a variable, and no secret
_MARK = f"{TOKEN}=".encode()
_PR_SET_CHILD_SUBREAPER = 36
_numbers = count(1)
_family = ""
_openers = 0
_late: dict[int, int] = {}
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
        guard.start_guard(f"{TOKEN}={_own_name()}-")


def disown_orphans() -> None:
    global _openers  # noqa: PLW0603 - see above
    _openers -= 1
    if _openers == 0:
        _set_subreaper(0)
        guard.end_guards()
    reap_processes(_late)


def _set_subreaper(value: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    # Old kernels refuse: then orphans go to init, and only what is found in time is ended.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)


def end_family(root: int, token: str, since: int | None = None) -> dict[int, int]:
    """Kill a process with all its descendants, at once, and return them for `reap_processes`.

    `root` may be gone already, or be 0; whoever has started it waits for its end. `since` is when
    it was born: its number may be another's by now, and that one is left alone.
    """
    if sys.platform != "linux":
        _kill_group(root)
        return {}
    family = _Family(root, since, f"{TOKEN}={token}".encode())
    known = guard.stop_and_kill(lambda known: _find_family(family, known))
    known.pop(root, None)
    return known


def reap_processes(processes: dict[int, int]) -> bool:
    """Take out those that have ended, so that none stays a zombie. True if all have."""
    for pid, born in list(processes.items()):
        if guard.find_birth(pid) != born:
            del processes[pid]  # its parent has seen its end
            continue
        with suppress(ChildProcessError):  # its parent has not died yet
            if os.waitpid(pid, os.WNOHANG)[0]:
                del processes[pid]
    return not processes


def reap_later(processes: dict[int, int]) -> None:
    """Remember those that take longer to end than anybody can wait."""
    _late.update(processes)
    reap_processes(_late)


def _kill_group(root: int) -> None:
    if root == 0:
        return  # the system would take it for our own group
    try:
        os.killpg(root, signal.SIGKILL)
    except (OSError, AttributeError):
        return  # gone already; or Windows, where the process itself is killed by its owner


class _Family(NamedTuple):
    """How its members are known."""

    root: int
    since: int | None
    mark: bytes

    def has(self, pid: int) -> bool:
        """Whether a process carries the mark; or is of the session, unless it has another's."""
        marks = _marks_of(pid)
        return self.mark in marks if marks else self._has_in_session(pid)

    def _has_in_session(self, pid: int) -> bool:
        try:
            return os.getsid(pid) == self.root and self._is_root_ours()
        except OSError:
            return False

    def _is_root_ours(self) -> bool:
        """Whether the number of the root is still its own; or nobody's, which a session keeps."""
        return self.root != 0 and guard.find_birth(self.root) in (None, self.since)


def _marks_of(pid: int) -> list[bytes]:
    """The marks in the environment of a process; none where it has cleared them, or has ended."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return [each for each in file.read().split(b"\0") if each.startswith(_MARK)]
    except OSError:
        return []


def _find_family(family: _Family, known: dict[int, int]) -> dict[int, int]:
    """Its members, with when they were born: read before anything else that is known of them.
    One that was known before still is, though it may have lost its marks by ending."""
    found: dict[int, int] = {}
    below: list[tuple[int, int]] = []
    for pid in {family.root, *find_children(os.getpid())} - {0}:
        born = guard.find_birth(pid)
        if born is not None and (known.get(pid) == born or family.has(pid)):
            found[pid] = born
            below += [(child, pid) for child in find_children(pid)]
    while below:
        pid, parent = below.pop()
        try:
            told, born = guard.read_birth(pid)
        except OSError:
            continue
        if pid not in found and told == parent:
            found[pid] = born
            below += [(child, pid) for child in find_children(pid)]
    return found


def find_children(parent: int) -> Iterator[int]:
    """The processes that a process is the parent of."""
    if not _lists_children():
        yield from _scan_children(parent)
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


def _scan_children(parent: int) -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                yield int(name)
