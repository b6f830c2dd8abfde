"""Where a project is: the folder whose files its suites may name."""

from __future__ import annotations

import os

from evalcase.errors import ConfigError

_MARKS = ("evalcase.toml", "pyproject.toml", ".git")


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


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it. Both are real: no link is followed here."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def leads_inside(name: str, folder: str) -> bool:
    """Whether a path, as it is named from a folder, stays in it once links are followed."""
    try:
        return is_inside(os.path.realpath(os.path.join(folder, name)), os.path.realpath(folder))
    except ValueError:
        return False  # a NUL, or half of a character: no file has such a name
