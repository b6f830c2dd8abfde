"""Where a project is: the folder whose files its suites may name."""

from __future__ import annotations

import os

from evalcase.errors import ConfigError

_MARKS = ("evalcase.toml", "pyproject.toml", ".git")
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/")
"""Links of the system to the open files of a process."""


def project_root(folder: str) -> str:
    """The nearest folder upwards with a project file, else the folder itself."""
    return find_project(folder) or folder


def take_root(folder: str) -> str:
    """The folder that somebody names as the root of a project, whatever lies above it. Raise
    ConfigError if it is no folder: none is made."""
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "is not there"
        raise ConfigError(f"`root` is the folder of a project, and {folder} {what}")
    return os.path.realpath(folder)


def find_project(folder: str) -> str | None:
    """The nearest folder upwards with a project file; None if there is none."""
    current = folder
    while True:
        if any(os.path.lexists(os.path.join(current, mark)) for mark in _MARKS):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return None
        current = parent


def say_from_root(root: str) -> str:
    """Where paths begin, and which folder that is for somebody in another."""
    seen = os.path.relpath(os.path.realpath(root), os.path.realpath(os.getcwd()))
    return f"paths are relative to the project's folder{'' if seen == os.curdir else f', {seen}'}"


def find_working_folder(root: str) -> str | None:
    """The working folder, seen from the root of a project that it is a folder of."""
    here, there = os.path.realpath(os.getcwd()), os.path.realpath(root)
    return os.path.relpath(here, there) if here != there and is_inside(here, there) else None


def find_from_here(name: str, root: str) -> str:
    """The path of a file as it is named from the root of a project, where it was named from the
    working folder; the same path where there is no such file, or it lies elsewhere."""
    try:
        there = os.path.realpath(name)
        if os.path.lexists(os.path.join(root, name)) or not os.path.isfile(there):
            return name
    except ValueError:
        return name  # a NUL, or half of a character: no file has such a name
    return os.path.relpath(there, root) if is_inside(there, os.path.realpath(root)) else name


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it. Both are real: no link is followed here."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def leaves_by_link(path: str) -> bool:
    """Whether a path that a person or a shell names leads out of the project by a link: the file
    itself out of its own project, or a folder above it out of the project of the working folder.
    Without a project file, the working folder is the project."""
    named, real, cwd = os.path.abspath(path), os.path.realpath(path), os.path.realpath(os.curdir)
    if named.startswith(_STREAMS):
        return False
    here = project_root(cwd)
    if is_inside(named, here) and not is_inside(real, here):
        return True
    folder = os.path.realpath(os.path.dirname(named))
    own = find_project(folder) or (cwd if is_inside(folder, cwd) else folder)
    return os.path.islink(path) and not is_inside(real, own)


def leads_inside(name: str, folder: str) -> bool:
    """Whether a path, as it is named from a folder, stays in it once links are followed."""
    try:
        return is_inside(os.path.realpath(os.path.join(folder, name)), os.path.realpath(folder))
    except ValueError:
        return False  # a NUL, or half of a character: no file has such a name
