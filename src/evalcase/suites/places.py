"""Where suites lie in their project: the same on every machine, from wherever they are named."""

from __future__ import annotations

import os


class Places:
    """Gives the place of a suite by the path that it was named with; each is looked up once."""

    def __init__(self, root: str, cwd: str) -> None:
        self._root = root
        self._cwd = cwd
        self._known: dict[str, str] = {}

    def find(self, path: str) -> str:
        """Its path from the project's folder, with slashes. Suites made in Python keep theirs."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._look_up(path)
        return known

    def _look_up(self, path: str) -> str:
        if path.startswith("<"):
            return path
        real = os.path.realpath(os.path.join(self._cwd, path))
        return os.path.relpath(real, os.path.realpath(self._root)).replace(os.sep, "/")
