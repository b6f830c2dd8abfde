"""Finds the lines of cases in the suites of a stored run, where these are as they were then."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property

from evalcase.config.catalogue import Catalogue
from evalcase.format.load import CaseStream, case_spans, load_file
from evalcase.format.source import format_at
from evalcase.report.source import Reported, see_suites
from evalcase.store.folder import is_own
from evalcase.types.case import Case
from evalcase.util.files import digest_file
from evalcase.util.table import Table, mark_of


class LineFinder:
    """Finds the line of a case. A file is read when the first of its cases is looked for."""

    def __init__(self, reported: Reported, state: str | None) -> None:
        """`state` is the folder of what is kept for this user."""
        self._project = reported.reader.config.root
        self._cwd = reported.reader.cwd
        self._state = state
        self._stored = reported.stored
        self._run = reported.stored.run
        self._lines: dict[str, Table] = {}

    def find_line(self, suite: str, case: str) -> int | None:
        if not self._is_own or suite.startswith("<"):
            return None
        if suite not in self._lines:
            self._lines[suite] = self._read(suite)
        found = self._lines[suite].find(mark_of(case))
        return None if found is None else int(found[0])

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
    def _hashes(self) -> dict[str, str]:
        """The hashes of the suites when the run was last graded by them, as its record has them."""
        known = self._run.about.suites
        return self._stored.graded_suites(frozenset(known)) or known

    def _read(self, suite: str) -> Table:
        """The lines of the cases; none if the suite has changed, or is not in the project."""
        lines, path = Table("I"), os.path.join(self._cwd, self.see(suite))
        real = os.path.realpath(path)
        if not real.startswith(self._root + os.sep) or not os.path.isfile(real):
            return lines
        if digest_file(real) != self._hashes.get(suite):
            return lines
        if format_at(path) == "jsonl":
            stream = CaseStream(path, Catalogue())
            for case in stream:
                if isinstance(case, Case):
                    lines.add(mark_of(case.id), stream.line)
        elif (loaded := load_file(path, Catalogue())).suite is not None:
            pairs = zip(loaded.suite, case_spans(path, loaded.numbers), strict=True)
            for each, span in pairs:
                if span is not None:
                    lines.add(mark_of(each.id), span.line)
        return lines
