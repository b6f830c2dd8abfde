"""The files that cases of a run name: where they are, and a hash of each."""

from __future__ import annotations

import os
from collections.abc import Iterator

from evalcase.model.case import Case
from evalcase.model.finding import Unfit
from evalcase.model.message import is_part
from evalcase.suites.attachments import Attachments
from evalcase.system.digests import UNREADABLE, digest_file


class AttachedFiles:
    """Finds the files of cases. One that many cases share is read once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._shelves: dict[str, Attachments] = {}
        self._digests: dict[str, tuple[int, int, str]] = {}

    def paths(self, suite: str, case: Case) -> dict[str, str]:
        """Absolute paths by the names that the case has for them; missing ones are left out."""
        folder = os.path.dirname(os.path.realpath(suite))
        shelf = self._shelves.get(folder)
        if shelf is None:
            shelf = self._shelves[folder] = Attachments(folder)
        found = {name: shelf.find(name) for name in dict.fromkeys(_file_names(case))}
        return {name: path for name, path in found.items() if not isinstance(path, Unfit)}

    def hashes(self, suite: str, case: Case) -> dict[str, str]:
        """A hash of each file, for the hash of a question."""
        return {name: self._digest(path) for name, path in self.paths(suite, case).items()}

    def _digest(self, path: str) -> str:
        try:
            about = os.stat(path)
        except OSError:
            return UNREADABLE
        known = self._digests.get(path)
        if known is None or known[:2] != (about.st_mtime_ns, about.st_size):
            known = self._digests[path] = about.st_mtime_ns, about.st_size, digest_file(path)
        return known[2]


def _file_names(case: Case) -> Iterator[str]:
    for message in case.data["input"]:
        content = message.get("content")
        if not isinstance(content, list) or not all(map(is_part, content)):
            continue
        for part in content:
            if part["type"] in ("file", "image"):
                # What an image has as its value may be the picture itself.
                value = part.get("value") if part["type"] == "file" else None
                name = part.get("path", value)
                if isinstance(name, str) and name:
                    yield name
