"""Which file is the configuration of a project: found out without what it takes to read one."""

from __future__ import annotations

import os

from evalcase.model.finding import KeyPath
from evalcase.system.files import read_file

MOST_CONFIG_BYTES = 10_000_000
TABLES: dict[str, KeyPath] = {"evalcase.toml": (), "pyproject.toml": ("tool", "evalcase")}
"""The names it may have, and where in it the settings are."""
_USUAL = "evalcase.toml"


def has_settings(name: str, text: bytes) -> bool:
    """Whether a file of this name may say something about evalcase."""
    return not TABLES.get(name) or b"evalcase" in text


def say_table(path: str | None, table: str) -> str:
    """Where a table of settings goes, in words to follow "add". None is a project without any."""
    name = os.path.basename(path or _USUAL)
    return f"[{_join_keys(*TABLES.get(name, ()), table)}] to {name}"


def say_settings(path: str | None) -> str:
    """Where a single setting goes, in words to follow "in"."""
    name = os.path.basename(path or _USUAL)
    table = TABLES.get(name)
    return f"[{_join_keys(*table)}] of {name}" if table else name


def _join_keys(*keys: str | int) -> str:
    return ".".join(map(str, keys))


def holds_config(root: str) -> bool:
    """Whether a project may have a configuration."""
    for name in TABLES:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            try:
                if has_settings(name, read_file(path, MOST_CONFIG_BYTES, inside=root)):
                    return True
            except OSError:
                return True  # what is wrong with it is told by whoever reads it
    return False
