"""The files that cases of a run name: where they are, and a hash of each."""

from __future__ import annotations

import os

from evalcase.model.case import Case
from evalcase.model.finding import Unfit
from evalcase.system.attachments import Attachments, attachments_in
from evalcase.system.digests import FileDigests


class AttachedFiles:
    """Finds the files of cases. One that many cases share is read once."""

    def __init__(self, cwd: str) -> None:
        """Suites are named from `cwd`: the working folder is one that an agent may leave."""
        self._cwd = cwd
        self._shelves: dict[str, Attachments] = {}
        self._digests = FileDigests()

    def find(self, suite: str, case: Case) -> dict[str, str] | Unfit:
        """Real paths by the names that the case has for them, or why one can't be used."""
        shelf = self._shelves.get(suite)
        if shelf is None:
            folder = os.path.dirname(os.path.join(self._cwd, suite))
            shelf = self._shelves[suite] = attachments_in(folder)
        return shelf.find_all(case.written_messages)

    def hashes(self, suite: str, case: Case) -> dict[str, str]:
        """A hash of each file, for the hash of a question."""
        found = self.find(suite, case)
        return {"": found.message} if isinstance(found, Unfit) else self._digests.of(found)
