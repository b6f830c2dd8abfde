"""Where the cases of a run stand in their files, for reports that point at a line.

A run that did not pass keeps the lines of its cases. They are named while a suite is what it was,
or is gone: in one that is another by now they might be those of other cases. Files are looked at
only for runs that this user made: what a stranger's record names is not opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property

from evalcase.cli.paths import see_suites
from evalcase.cli.reports.reported import Reported
from evalcase.config.catalogue import Catalogue
from evalcase.store.folder import StoredLines, is_own
from evalcase.store.stored import StoredRun
from evalcase.util.files import digest_file

_MOST_BYTES = 50_000_000
"""A file that is larger is not read for the sake of a line."""


class LineFinder:
    """Finds the line of a case. A file is read when the first of its cases is looked for."""

    def __init__(self, reported: Reported, state: str | None) -> None:
        """`state` is the folder of what is kept for this user."""
        run, config = reported.kept.run, reported.place.config
        self._project = config.root
        self._cwd = reported.place.cwd
        self._state = state
        self._run = run
        self._digests: dict[str, str | None] = {}
        self._lines: dict[str, dict[str, int]] = {}

    def find_line(self, suite: str, case: str) -> int | None:
        if not self._is_own or suite.startswith("<"):
            return None
        line = self._kept.find(suite, case)
        if line is None:
            return self._find_now(suite, case)
        return line if self._digest(suite) in (_GONE, self._kept.hashes[suite]) else None

    def locate(self, suite: str, case: str) -> str:
        """`file:line`, or the file alone."""
        line = self.find_line(suite, case)
        return self.see(suite) if line is None else f"{self.see(suite)}:{line}"

    @cached_property
    def _is_own(self) -> bool:
        return is_own(self._run, self._state, self._project)

    @cached_property
    def _root(self) -> str:
        return os.path.realpath(self._project)

    @cached_property
    def see(self) -> Callable[[str], str]:
        """How a person here writes the path of a suite."""
        return see_suites(self._run, self._project, self._cwd)

    @cached_property
    def _kept(self) -> StoredLines:
        return StoredLines(self._run)

    def _digest(self, suite: str) -> str | None:
        """What a file holds now, as a hash; None for one that is none of the project's."""
        if suite not in self._digests:
            self._digests[suite] = self._look_at(self._path(suite))
        return self._digests[suite]

    def _look_at(self, path: str) -> str | None:
        real = os.path.realpath(path)
        if not real.startswith(self._root + os.sep):
            return None
        return digest_file(real) if os.path.lexists(path) else _GONE

    def _path(self, suite: str) -> str:
        return os.path.join(self._cwd, self.see(suite))

    @cached_property
    def _hashes(self) -> dict[str, str]:
        """The hashes of the suites when the run was last graded by them, as its record has them."""
        known = self._run.about.suites
        return StoredRun(self._run).graded_suites(frozenset(known)) or known

    def _find_now(self, suite: str, case: str) -> int | None:
        """The line of a case whose run was killed before it could keep it."""
        known = self._lines.get(suite)
        if known is None:
            known = self._lines[suite] = self._read(suite)
        return known.get(case)

    def _read(self, suite: str) -> dict[str, int]:
        from evalcase.format.load import case_spans, load_file

        path, digest = self._path(suite), self._digest(suite)
        if digest is None or digest != self._hashes.get(suite):
            return {}
        if os.path.getsize(path) > _MOST_BYTES:
            return {}
        loaded = load_file(path, Catalogue())
        if loaded.suite is None:
            return {}
        pairs = zip(loaded.suite, case_spans(path, loaded.numbers), strict=True)
        return {case.id: span.line for case, span in pairs if span is not None}


_GONE = "gone"
"""In place of a hash, for what is not there any more."""
