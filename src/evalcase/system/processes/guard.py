"""Ends what a killed evalcase leaves behind: its commands, with all that they started.

Nobody can clean up after a `kill -9` of himself. So on Linux a small process is there while there
are commands: it waits for evalcase to end, by a pipe that only evalcase holds, and then kills
whatever carries evalcase's mark in its environment, and the descendants of that. It is this file,
run as a program with nothing but the standard library. Where it can't be started, there is none.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen

_ROUNDS = 100
_guards: list[Popen[bytes]] = []


def start_guard(mark: str) -> None:
    """Have a guard for processes whose environment has a variable that begins with this."""
    if sys.platform != "linux":
        return
    from subprocess import DEVNULL, PIPE, Popen

    argv = [sys.executable, "-I", "-S", __file__, mark]
    try:
        # A session of its own, so that it outlives what is done to the terminal or the group.
        guard = Popen(  # noqa: S603 - this Python and this file
            argv, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, cwd="/", start_new_session=True
        )  # fmt: skip
    except OSError:
        return
    _let_go_in_children()
    _guards.append(guard)


def end_guards() -> None:
    """Send the guards away: there is nothing left that they would have to end."""
    while _guards:
        guard = _guards.pop()
        guard.kill()
        _close_guard(guard)
        guard.wait()


@cache
def _let_go_in_children() -> None:
    """A forked child may outlive evalcase, and must not look like it."""
    os.register_at_fork(after_in_child=_let_go)


def _let_go() -> None:
    for guard in _guards:
        _close_guard(guard)


def _close_guard(guard: Popen[bytes]) -> None:
    assert guard.stdin is not None
    guard.stdin.close()


def wait_and_kill(mark: bytes) -> None:
    """Wait for the end of standard input. Then kill every process there is to be found."""
    sys.stdin.buffer.read()
    stop_and_kill(lambda known: find_marked(mark, known))


def stop_and_kill(find_all: Callable[[dict[int, int]], dict[int, int]]) -> dict[int, int]:
    """Stop all processes that are found, until there are no more, and kill them: else they could
    grow faster than they are found. One that was stopped in the middle of a fork may have a child
    after the last look; once it is killed it never will, so there is another look after that."""
    known: dict[int, int] = {}
    for _ in range(_ROUNDS):
        if not _stop_all(find_all, known):
            break
        send_signal(known, signal.SIGKILL)
    return known


def _stop_all(find_all: Callable[[dict[int, int]], dict[int, int]], known: dict[int, int]) -> bool:
    """Stop those that are not yet known; whether there were any. The kernel's list may miss one
    while another ends: it takes two looks without any to be sure."""
    more, quiet = False, 0
    for _ in range(_ROUNDS):
        found = {pid: born for pid, born in find_all(known).items() if known.get(pid) != born}
        send_signal(found, signal.SIGSTOP)
        known |= found
        more = more or bool(found)
        quiet = 0 if found else quiet + 1
        if quiet == 2:
            break
    return more


def find_marked(mark: bytes, known: dict[int, int]) -> dict[int, int]:
    """Every process with the mark, or that is known, and every descendant of one, with when they
    were born."""
    every: dict[int, tuple[int, int]] = {}
    found: set[int] = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                every[int(name)] = read_birth(name)
                if known.get(int(name)) == every[int(name)][1] or _has_mark(name, mark):
                    found.add(int(name))
            except OSError:
                continue  # it has just ended, or is of another user
    while more := {pid for pid, (parent, _) in every.items() if parent in found} - found:
        found |= more
    return {pid: every[pid][1] for pid in found if pid != os.getpid()}


def read_birth(pid: int | str) -> tuple[int, int]:
    """The parent of a process, and when it was born: a number may be another's by and by, and
    only both together name a process. Raise OSError if there is none."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return int(fields[1]), int(fields[19])


def find_birth(pid: int) -> int | None:
    """When a process was born, by a clock of the kernel's; None if there is none."""
    try:
        return read_birth(pid)[1]
    except OSError:
        return None


def send_signal(processes: dict[int, int], number: int) -> None:
    """Signal processes; one whose number is another's by now is left alone. It is held while it is
    looked at, so that it can't become another's in between."""
    for pid, when in processes.items():
        try:
            held = os.pidfd_open(pid)
        except OSError as error:
            # Gone already; or a kernel that can't: then there is a moment between look and signal.
            if error.errno == errno.ENOSYS and find_birth(pid) == when:
                _kill_process(pid, number)
            continue
        try:
            if find_birth(pid) == when:
                signal.pidfd_send_signal(held, number)
        except OSError:
            continue  # gone in this moment, or of another user
        finally:
            os.close(held)


def _kill_process(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)


def _has_mark(name: str, mark: bytes) -> bool:
    with open(f"/proc/{name}/environ", "rb") as file:
        return any(variable.startswith(mark) for variable in file.read().split(b"\0"))


if __name__ == "__main__":
    wait_and_kill(os.fsencode(sys.argv[1]))
