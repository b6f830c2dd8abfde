"""The stored run that is reported: which results, and for whom; and where its cases stand in their
suites."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.errors import ConfigError
from evalcase.format.source import format_at
from evalcase.report.aggregate import MOST_VALUES, Figuring, Highlights, Ledger
from evalcase.report.details import UNFINISHED
from evalcase.report.evaluated import Evaluated, read_evaluated
from evalcase.report.figures import PART_KINDS, Figures, PartKind
from evalcase.report.terminal import Screen, seen_from
from evalcase.store.folder import Run, folder_of_run, is_own
from evalcase.store.index import Tally
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.problem import did_you_mean
from evalcase.types.result import Result, Verdict
from evalcase.types.value import Value, fits_pattern, replace
from evalcase.util.files import digest_file
from evalcase.util.table import Table, mark_of


class Reader(NamedTuple):
    """The person who reads a report."""

    cwd: str
    """Where they are; `resume` works elsewhere."""
    config: Config
    screen: Screen = Screen()
    is_own: bool = True
    """Whether the record is their own, and may be resumed."""
    verbose: bool = False


def find_suite_places(root: str, folder: str) -> Callable[[str], str]:
    """Finds them for paths as they were written in a folder. By words alone: a record may come from
    anyone, and nothing is looked for."""

    @cache
    def find(suite: str) -> str:
        if suite.startswith("<"):
            return suite
        path = os.path.normpath(os.path.join(folder, suite))
        if os.path.isabs(path) and (path + os.sep).startswith(root + os.sep):
            path = os.path.relpath(path, root)
        return path.replace(os.sep, "/")

    return find


def see_suites(run: Run, root: str, cwd: str) -> Callable[[str], str]:
    """What turns the path of a suite of a run into one that leads there from `cwd`.

    It goes by the words alone: a record may come from anyone, and nothing is looked for. One that
    was started here, or at an unknown place, has its paths as they are.
    """
    begun = os.path.normpath(os.path.join(root, folder_of_run(run)))
    if begun == os.path.realpath(cwd):
        return str
    return lambda path: path if path.startswith("<") else seen_from(cwd, os.path.join(begun, path))


PARTS = ("target", "tag", "suite", "grader")
_VARIABLE = "vars."


def require_variables(by: Iterable[str], figures: Figures) -> None:
    """Raise ConfigError for a variable that no case has, or that has too many values."""
    for word in by:
        name = word.removeprefix(_VARIABLE)
        if name == word or name in figures.by_vars:
            continue
        if name in figures.crowded:
            raise ConfigError(f"`{name}` has more than {MOST_VALUES} values, too many to group by")
        hint = did_you_mean(name, figures.by_vars)
        there = ", ".join(figures.by_vars)
        hint = hint or (f"there are {there}" if there else "no case has variables to group by")
        raise ConfigError(f"no case has a variable `{name}` to group by; {hint}")


MAX_SIZE = 50_000_000
"""Unless another is asked for: browsers open it in a second."""
_MOST_KNOWN = 10_000
"""Names that are remembered in case that the one which was asked for is not among them."""


class Wanted(Value, frozen=True):
    case: str | None = None
    target: str | None = None
    verdicts: tuple[str, ...] = ()
    """Of cases."""

    @property
    def is_all(self) -> bool:
        """Whether every case is counted. A verdict that is asked for changes no count: all of those
        that passed are no pass rate."""
        return self.case is None and self.target is None

    def describe(self) -> str:
        said = [f"case {self.case}"] if self.case is not None else []
        return ", ".join([*said, *([f"target {self.target}"] if self.target is not None else [])])


class Reported(Value, frozen=True):
    """A run that is reported, and for whom."""

    stored: StoredRun
    reader: Reader
    wanted: Wanted = Wanted()
    figuring: Figuring = Figuring()
    by: tuple[PartKind, ...] = PART_KINDS
    """The parts whose rates are shown."""
    max_size: int = MAX_SIZE
    """Bytes that a page may have, where it can be kept to that."""

    def read(self, shown: Collection[Verdict | None] = ()) -> tuple[Evaluated, Highlights, Figures]:
        """What came of it, cases to show of these verdicts, and the figures of all results that
        count. Raise ConfigError where the run hasn't got them."""
        highlights = Highlights(shown, self.figuring)
        find, evaluated = self.figuring.finder(self.stored), self.evaluated()
        for result in self._counted():
            highlights.add(result, find(*result.key[:2]))
        return evaluated, highlights, self.sum_up(highlights.ledger, evaluated)

    def sum_up(self, ledger: Ledger, evaluated: Evaluated) -> Figures:
        """The figures of results that were added up elsewhere."""
        figures = ledger.sum_up(evaluated, whole=self.wanted.is_all)
        require_variables(self.by, figures)
        return figures

    def evaluated(self) -> Evaluated:
        """What came of the run, or of a case or a target."""
        evaluated = read_evaluated(self.stored)
        if self.wanted.is_all:
            return evaluated
        tally = Tally()
        for result in self._counted():
            tally.add(result)
        return replace(evaluated, totals=tally.totals(), not_run=0)

    def _counted(self) -> Iterator[Result]:
        return replace(self, wanted=replace(self.wanted, verdicts=())).results()

    def results(self) -> Iterator[Result]:
        """The results that are wanted. Raise ConfigError if a name is not one of the run's."""
        wanted, count = self.wanted, 0
        cases: dict[str, bool] = {}
        targets: dict[str, bool] = {}
        for result in self.stored.results():
            key = result.key
            if len(cases) < _MOST_KNOWN:
                cases[key.case] = True
            targets[key.target] = True
            # An id, or a glob as `run --case` takes it.
            is_meant = wanted.case is None or fits_pattern(key.case, wanted.case)
            if not is_meant or wanted.target not in (None, key.target):
                continue
            count += 1
            verdict = self.stored.outcome(result).verdict or UNFINISHED
            if not wanted.verdicts or verdict in wanted.verdicts:
                yield result
        if not count and not wanted.is_all:
            raise ConfigError(
                _explain_missing(self.stored.run.id, wanted, list(cases), list(targets))
            )


def _explain_missing(run: str, wanted: Wanted, cases: list[str], targets: list[str]) -> str:
    for noun, name, known in (("case", wanted.case, cases), ("target", wanted.target, targets)):
        if name is not None and not any(fits_pattern(each, name) for each in known):
            hint = did_you_mean(name, known)
            return f"run {run} has no {noun} `{name}`{f'; {hint}' if hint else ''}"
    return f"case `{wanted.case}` was not run at `{wanted.target}` in run {run}"


class LineFinder:
    """Finds the line of a case. A file is read when the first of its cases is looked for."""

    def __init__(self, reported: Reported, state: str | None) -> None:
        """`state` is the folder of what is kept for this user."""
        stored, reader = reported.stored, reported.reader
        self._root = os.path.realpath(reader.config.root)
        self._cwd = reader.cwd
        self._is_own = is_own(stored.run, state, reader.config.root)
        suites = stored.run.about.suites
        self._hashes = stored.graded_suites(frozenset(suites)) or suites
        """Of the suites when the run was last graded by them, as its record has them."""
        self.see = see_suites(stored.run, reader.config.root, reader.cwd)
        """How a person here writes the path of a suite."""
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

    def _read(self, suite: str) -> Table:
        """The lines of the cases; none if the suite has changed, or is not in the project."""
        from evalcase.config.catalogue import Catalogue  # most reports read no suite
        from evalcase.format.load import CaseStream, case_spans, load_file

        lines, path = Table(1), os.path.join(self._cwd, self.see(suite))
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
