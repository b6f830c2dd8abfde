"""Witnesses of what a command does: files that are opened, programs that are started, modules that
are run, addresses that are connected to. The interpreter itself tells of them, so nothing escapes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork"})
_watching: list[Witness] = []


class Witness:
    """Notes what happens below a folder, and what is started or connected to from anywhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[str] = []

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self._is_below(arguments[0], arguments[2] or 0):
            self.seen.append(f"open {arguments[0]}")
        elif event == "exec" and self._is_below(arguments[0].co_filename):
            self.seen.append(f"import {arguments[0].co_filename}")
        elif event in _STARTS:
            self.seen.append(f"start {arguments[:2]}")
        elif event == "socket.connect":
            self.seen.append(f"connect {arguments[1]}")

    def _is_below(self, path: object, flags: int = 0) -> bool:
        if not isinstance(path, str | bytes):
            return False  # an open file
        place = Path(os.fsdecode(path))
        if flags & os.O_NOFOLLOW and place.is_symlink():
            return False  # that is an error
        return place.resolve().is_relative_to(self.folder)


@contextmanager
def watching(folder: Path) -> Iterator[Witness]:
    """Watch a folder, and whatever leads out of this process."""
    if _hear not in _heard:
        _heard.append(_hear)
        sys.addaudithook(_hear)  # for good: none can be removed
    _watching.append(Witness(folder.resolve()))
    try:
        yield _watching[-1]
    finally:
        _watching.pop()


_heard: list[object] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and (event in _STARTS or event in ("open", "exec", "socket.connect")):
        _watching[-1].look(event, arguments)
