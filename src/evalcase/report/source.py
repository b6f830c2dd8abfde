"""The stored run that is reported: which results, and for whom."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.errors import ConfigError
from evalcase.report.aggregate import MOST_VALUES, Ledger
from evalcase.report.details import UNFINISHED
from evalcase.report.evaluated import Evaluated, Figuring, read_evaluated
from evalcase.report.figures import PART_KINDS, Figures, PartKind
from evalcase.report.highlights import Highlights
from evalcase.report.terminal import Screen, seen_from
from evalcase.store.folder import Run, folder_of_run
from evalcase.store.index import Tally
from evalcase.store.stored import StoredRun
from evalcase.types.problem import did_you_mean
from evalcase.types.result import Result
from evalcase.types.value import Value, fits_pattern, replace


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
    """Which results of a run are reported."""

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
        """Which cases are counted, in words; empty where all are."""
        said = [f"case {self.case}"] if self.case is not None else []
        return ", ".join([*said, *([f"target {self.target}"] if self.target is not None else [])])

    def includes(self, case: str) -> bool:
        """Whether a case is meant: by its id, or by a glob as `run --case` takes it."""
        return self.case is None or fits_pattern(case, self.case)


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
    junit_properties: bool = False
    """Whether test cases of JUnit have properties."""

    def figures(self, highlights: Highlights | None = None) -> Figures:
        """Those of all results that count; highlights are filled on the way. Raise ConfigError
        where the run hasn't got them."""
        highlights = highlights or self.open_highlights()
        return self.sum_up(highlights.ledger, self.evaluated(highlights))

    def sum_up(self, ledger: Ledger, evaluated: Evaluated) -> Figures:
        """The same for results that were added up on another way."""
        figures = self.figuring.sum_up(ledger, evaluated, whole=self.wanted.is_all)
        require_variables(self.by, figures)
        return figures

    def open_highlights(self) -> Highlights:
        """Those of a report that shows no case by them."""
        return Highlights((), self.figuring.open_ledger())

    def evaluated(self, highlights: Highlights | None = None) -> Evaluated:
        """What came of the run, or of a case or a target; highlights are filled on the way."""
        evaluated = read_evaluated(self.stored)
        if highlights is None and self.wanted.is_all:
            return evaluated
        tally, find = Tally(), self.figuring.finder(self.stored)
        for result in replace(self, wanted=replace(self.wanted, verdicts=())).results():
            tally.add(result)
            if highlights is not None:
                highlights.add(result, find(*result.key[:2]))
        return evaluated if self.wanted.is_all else replace(
            evaluated, totals=tally.totals(), not_run=0
        )  # fmt: skip

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
            if not wanted.includes(key.case) or wanted.target not in (None, key.target):
                continue
            count += 1
            if not wanted.verdicts or self._verdict(result) in wanted.verdicts:
                yield result
        if not count and not wanted.is_all:
            raise ConfigError(
                _explain_missing(self.stored.run.id, wanted, list(cases), list(targets))
            )

    def _verdict(self, result: Result) -> str:
        return self.stored.outcome(result).verdict or UNFINISHED


def _explain_missing(run: str, wanted: Wanted, cases: list[str], targets: list[str]) -> str:
    for noun, name, known in (("case", wanted.case, cases), ("target", wanted.target, targets)):
        if name is not None and not any(fits_pattern(each, name) for each in known):
            is_varied = any(each.startswith(f"{name}:") for each in known)
            variants = f"it only has variants: use `{name}:*`"
            hint = variants if is_varied else did_you_mean(name, known)
            return f"run {run} has no {noun} `{name}`{f'; {hint}' if hint else ''}"
    return f"case `{wanted.case}` was not run at `{wanted.target}` in run {run}"
