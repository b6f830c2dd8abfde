"""The files of some folders, each with a stamp that changes when its content may have: who looks
twice knows what was changed, added or removed in between."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

from evalcase.read.folders import enters_folder

FileStamps: TypeAlias = "dict[str, tuple[int, int, int]]"
"""Time of the last change, size and number of each file, by its path."""


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
            continue  # what can't be looked into is told by whoever reads it
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.path not in seen and enters_folder(folder, entry.name):
                    seen.add(entry.path)
                    left.append(entry.path)
            else:
                _stamp_entry(entry, stamps)
    return stamps


def _stamp_entry(entry: os.DirEntry[str], stamps: FileStamps) -> None:
    try:
        about = entry.stat()
    except OSError:
        return  # it is gone by now, or a link to nothing
    stamps[entry.path] = about.st_mtime_ns, about.st_size, about.st_ino


def changed_files(before: FileStamps, now: FileStamps) -> list[str]:
    """The paths that were changed, added or removed, in order."""
    return sorted(path for path in {**before, **now} if before.get(path) != now.get(path))
