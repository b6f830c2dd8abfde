"""Where stored runs are, and the paths of their suites: as a person writes them here, and as they
are in the project. Records may come from anyone, so no path of theirs is opened."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from evalcase.cli.terminal import seen_from
from evalcase.config.config import Config, read_config
from evalcase.store.folder import Run, folder_of_run


def look_for_runs(folder: str) -> Config:
    """The configuration of the project that a folder belongs to, whatever is wrong with it."""
    config = read_config(folder, folder)
    if config.problems():
        sys.stderr.write("the configuration has errors, which `evalcase check` shows\n")
    return config


def find_suite_places(root: str, folder: str) -> Callable[[str], str]:
    """Finds them for paths as they were written in a folder. By words alone: a record may come from
    anyone, and nothing is looked for."""
    known: dict[str, str] = {}

    def find(suite: str) -> str:
        place = known.get(suite)
        if place is None:
            place = known[suite] = _place_suite(suite, root, folder)
        return place

    return find


def _place_suite(suite: str, root: str, folder: str) -> str:
    if suite.startswith("<"):
        return suite
    path = os.path.normpath(os.path.join(folder, suite))
    if os.path.isabs(path) and (path + os.sep).startswith(root + os.sep):
        path = os.path.relpath(path, root)
    return path.replace(os.sep, "/")


def see_suites(run: Run, root: str, cwd: str) -> Callable[[str], str]:
    """What turns the path of a suite of a run into one that leads there from `cwd`.

    It goes by the words alone: a record may come from anyone, and nothing is looked for. One that
    was begun here, or nobody knows where, has its paths as they are.
    """
    begun = os.path.normpath(os.path.join(root, folder_of_run(run)))
    if begun == os.path.realpath(cwd):
        return str
    return lambda path: path if path.startswith("<") else seen_from(cwd, os.path.join(begun, path))
