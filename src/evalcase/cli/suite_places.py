"""Where suites lie in their project, whatever folder a run was started from: by that, those of two
runs are known to be the same."""

from __future__ import annotations

import os
from collections.abc import Callable


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
