"""Where the cases of a run stand in their files, for reports that point at a line.

The record has no lines, but hashes: a file that is another by now has no line of the run. Files are
looked at only for runs that this user made: what a stranger's record names is not opened.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from evalcase.cli.reports.reported import Reported
from evalcase.cli.seen_suites import see_suites
from evalcase.record.gradings import graded_suites
from evalcase.record.seal import is_own
from evalcase.system.digests import digest_file

_MOST_BYTES = 50_000_000
"""A file that is larger is not read for the sake of a line."""


class LineFinder:
    """Finds the line of a case. A file is read when the first of its cases is looked for."""

    def __init__(self, reported: Reported, state: str | None) -> None:
        """`state` is the folder of what is kept for this user."""
        run, config = reported.kept.run, reported.place.config
        self._root = os.path.realpath(config.root)
        self._cwd = reported.place.cwd
        self._is_own = is_own(run, state, config.root)
        self._run = run
        self._lines: dict[str, dict[str, int]] = {}
        self.see = see_suites(run, config.root, self._cwd)
        """How a person here writes the path of a suite."""

    def find_line(self, suite: str, case: str) -> int | None:
        if not self._is_own or suite.startswith("<"):
            return None
        known = self._lines.get(suite)
        if known is None:
            known = self._lines[suite] = self._read(suite)
        return known.get(case)

    def locate(self, suite: str, case: str) -> str:
        """`file:line`, or the file alone."""
        line = self.find_line(suite, case)
        return self.see(suite) if line is None else f"{self.see(suite)}:{line}"

    @cached_property
    def _hashes(self) -> dict[str, Any]:
        """The hashes of the suites when the run was last graded by them, as its record has them."""
        known = self._run.about.get("suites")
        if not isinstance(known, dict) or not known:
            return {}
        return graded_suites(self._run.journal, frozenset(known)) or known

    def _read(self, suite: str) -> dict[str, int]:
        from evalcase.suites.load import load_file
        from evalcase.suites.placing import place_cases

        path = os.path.join(self._cwd, self.see(suite))
        real = os.path.realpath(path)
        if not real.startswith(self._root + os.sep) or not os.path.isfile(real):
            return {}
        if os.path.getsize(real) > _MOST_BYTES or digest_file(real) != self._hashes.get(suite):
            return {}
        loaded = load_file(path)
        if loaded.suite is None:
            return {}
        pairs = zip(loaded.suite, place_cases(path, loaded.numbers), strict=True)
        return {case.id: span.line for case, span in pairs if span is not None}
