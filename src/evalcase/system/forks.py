"""A child that code of the user's forks is a copy of evalcase as well. When it comes back from that
code, it must neither go on with the trials nor write to the record: it ends.

Who calls code of the user's notes `count` before. In a child it is another.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from evalcase.system.process_end import end_process

if TYPE_CHECKING:
    import asyncio

count = 0
"""How often this process, or one that it was forked from, was forked."""
_CODE = 3
_WORD = (
    b"evalcase: a process that code of a target or a grader has forked came back from it, and ends "
    b"here\n"
)
_loops: list[asyncio.AbstractEventLoop] = []
_is_watching: list[bool] = []


def watch_forks() -> None:
    """Count forks from now on."""
    if sys.platform != "win32" and not _is_watching:
        _is_watching.append(True)
        os.register_at_fork(after_in_child=_note_fork)


def end_if_forked(before: int) -> None:
    """End this process if it was forked since."""
    if count != before:
        _end_child()


def hold_loop(loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
    """Have a child end that comes back to this event loop. What is returned undoes that."""
    watch_forks()
    _loops.append(loop)
    return lambda: _loops.remove(loop)


def _note_fork() -> None:
    global count  # noqa: PLW0603 - it is one for the process, as forking is
    count += 1
    for loop in _loops:
        with suppress(AttributeError):  # not a loop of asyncio's own
            loop._ready.clear()  # type: ignore[attr-defined]  # noqa: SLF001
            loop._run_once = _end_child  # type: ignore[attr-defined]  # noqa: SLF001
    _loops.clear()


def _end_child() -> None:
    with suppress(OSError):
        os.write(2, _WORD)
    end_process(_CODE)
