"""`evalcase check --watch`: the same check again whenever a file of the project changes.

Files are looked at from time to time, which works on every file system and needs no library. The
pauses grow with what a look takes, so that waiting never takes more than a small share of a core.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from evalcase.cli.options import WrongUsageError
from evalcase.cli.terminal import is_live, seen_from
from evalcase.format.source import STDIN, enters_folder
from evalcase.util.environment import monotonic
from evalcase.util.project import project_root
from evalcase.util.text import list_some, make_visible

PAUSE_S = 0.5
_SHARE = 0.05
"""Of the time that passes, so much at most is spent on looking."""
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_NAMED = 3

FileStamps: TypeAlias = "dict[str, tuple[int, int, int]]"
"""Time of the last change, size and number of each file, by its path."""


def refuse_with(paths: Iterable[str], output: str, *, fix: bool) -> None:
    """Raise WrongUsageError for what makes no sense beside --watch."""
    if STDIN in paths:
        raise WrongUsageError("--watch needs files, not standard input")
    if fix:
        raise WrongUsageError("--watch and --fix can't be combined")
    if output != "text":
        raise WrongUsageError(f"--watch only writes text, not {output}")


def watch_files(paths: Iterable[str], check: Callable[[], int]) -> int:
    """Check until Ctrl-C; the exit code of the last check that was done."""
    look = partial(stamp_files, folders_of(paths))
    code: int | None = None
    try:
        while True:
            seen = look()  # before the check: a change in the midst of it is not missed
            code = check()
            _write_text("\nwaiting for changes; press Ctrl-C to stop\n")
            changed = await_change(look, seen, time.sleep)
            _write_text(_CLEAR if is_live(sys.stdout) else "\n")
            _write_text(f"{describe_change(changed, os.getcwd())}\n\n")
    except KeyboardInterrupt:
        if code is None:
            raise
        _write_text("\n")
        return code


def await_change(
    look: Callable[[], FileStamps], seen: FileStamps, sleep: Callable[[float], None]
) -> list[str]:
    """Wait until files are no more as they were seen; which ones."""
    pause = PAUSE_S
    while True:
        sleep(pause)
        start = monotonic()
        changed = changed_files(seen, look())
        pause = max(PAUSE_S, (monotonic() - start) / _SHARE)
        if changed:
            return changed


def folders_of(paths: Iterable[str]) -> list[str]:
    """The folders whose files a check rests on: suites, attachments, code and configuration of the
    project that each path belongs to. None of them lies in another."""
    folders = set()
    for path in paths:
        real = os.path.realpath(path)
        folders.add(project_root(real if os.path.isdir(real) else os.path.dirname(real)))
    return sorted(each for each in folders if not any(map(partial(_is_below, each), folders)))


def _is_below(folder: str, other: str) -> bool:
    return folder != other and folder.startswith(os.path.join(other, ""))


def describe_change(changed: list[str], cwd: str) -> str:
    """Which files have changed, the first of them by name."""
    named = (make_visible(seen_from(cwd, each)) for each in changed[:_NAMED])
    return f"changed: {list_some(named, len(changed))}"


def _write_text(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def stamp_files(folders: Iterable[str]) -> FileStamps:
    """Every file in some folders and below, but for hidden folders and other programs' own."""
    stamps: FileStamps = {}
    left = list(folders)
    seen = set(left)
    while left:
        folder = left.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue  # the check reports a folder that can't be read
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.path not in seen and enters_folder(folder, entry.name):
                    seen.add(entry.path)
                    left.append(entry.path)
                continue
            with suppress(OSError):  # it is gone by now, or a link to nothing
                about = entry.stat()
                stamps[entry.path] = about.st_mtime_ns, about.st_size, about.st_ino
    return stamps


def changed_files(before: FileStamps, now: FileStamps) -> list[str]:
    """The paths that were changed, added or removed, in order."""
    return sorted(path for path in {**before, **now} if before.get(path) != now.get(path))
