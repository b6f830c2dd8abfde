"""Where a project is: the folder whose files its suites may name."""

from __future__ import annotations

import os

_ROOT_MARKS = ("evalcase.toml", "pyproject.toml", ".git")


def project_root(folder: str) -> str:
    """The nearest folder upwards with a project file, else the folder itself."""
    current = folder
    while True:
        if any(os.path.lexists(os.path.join(current, mark)) for mark in _ROOT_MARKS):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return folder
        current = parent


def holds_config(root: str) -> bool:
    """Whether a project may have a configuration, found out without reading one."""
    if os.path.isfile(os.path.join(root, "evalcase.toml")):
        return True
    try:
        with open(os.path.join(root, "pyproject.toml"), "rb") as file:
            return b"evalcase" in file.read()
    except OSError:
        return False
