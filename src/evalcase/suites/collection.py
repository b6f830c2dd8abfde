"""The cases of a run: checked as a whole first, then given as a stream as often as needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.case import Case
from evalcase.model.problem import Problem
from evalcase.plugins.known import Existing
from evalcase.read.discover import discover_files, find_sidecars, format_of, nothing_there
from evalcase.read.source import STDIN
from evalcase.suites.load import load_file
from evalcase.suites.snapshot import Snapshot
from evalcase.suites.stream import stream_cases
from evalcase.system.digests import UNREADABLE

HELD_BYTES = 4_000_000
"""How much JSONL is held in memory, over all files. More than that is read again each time, so
that the number of cases doesn't matter."""

_LOOK_EVERY = 50
"""How many cases are given before somebody looks at their files again."""


WantsCase = Callable[[str, Case], bool]
"""Whether a case of a suite is one of those that somebody looks for."""


class SomeSuites(Protocol):
    """The suites of a run, read from files or made by a program."""

    warnings: int
    notes: int
    """How many of them there are."""
    invalid: list[str]
    """The documents that were read, and of which no case is known, since there are errors."""

    def check(self) -> Iterator[tuple[str, Case]]:
        """Every valid case, on the way to the end; SuiteError is raised there if any is not."""
        ...

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        """The same again, once it is known that they are valid."""
        ...

    def hashes(self) -> dict[str, str]:
        """A hash of each suite, to see later which has changed."""
        ...

    def file_hashes(self) -> dict[str, str]:
        """A hash of each file that the cases are made of: of suites, of what lies beside them and
        of what they name, but for files in content. Empty where they are not of files."""
        ...

    def verify(self) -> None:
        """Raise ConfigError if a file is not what it was when its hash was asked for."""
        ...

    def lines(self, wanted: WantsCase) -> Iterator[tuple[str, str, int]] | None:
        """The suite and the id of each case that is wanted, with the line at which it begins; None
        where nobody knows. Raise ConfigError, at the end, if a file is not what it was."""
        ...


class Suites:
    """Suites of files: valid once `check` has been gone through to its end."""

    def __init__(self, paths: tuple[str, ...], cwd: str) -> None:
        """`cwd` is what paths are seen from; a target may be elsewhere when they are read again."""
        if STDIN in paths:
            raise ConfigError("a run reads files, not standard input: it must be resumable")
        self.paths = paths
        self._cwd = cwd
        self._known = Existing()
        self.warnings = self.notes = 0
        self.invalid: list[str] = []
        self._errors: list[Problem] = []
        self._files: dict[str, tuple[Case, ...] | Snapshot] = {}
        """The cases of each file; where they are read again, what it was like."""
        self._held: dict[str, Snapshot] = {}
        """What files were like whose cases are held."""
        self._origins: dict[str, Sequence[int]] = {}
        """Of the cases of documents: which, as it is written, each comes from."""
        self._room = HELD_BYTES

    def check(self) -> Iterator[tuple[str, Case]]:
        """Every valid case, on the way to the end of all files.

        There SuiteError is raised, with all errors, if there are any.
        """
        for path in discover_files(self.paths):
            if isinstance(path, Problem):
                self._note(path)
            else:
                streamed = nothing_there(path) is None and format_of(path) == "jsonl"
                for case in self._check_lines(path) if streamed else self._check_whole(path):
                    yield path, case
        if self._errors:
            raise SuiteError(self._errors)

    def recall(self, is_known: Callable[[dict[str, str]], bool]) -> Iterable[str]:
        """The files, if all of them have lines, and the hashes that `file_hashes` would give are
        known to be those of valid cases: then they are read only when these are asked for. If not,
        nothing, and `check` is for them."""
        found: dict[str, tuple[Case, ...] | Snapshot] = {}
        hashes: dict[str, str] = {}
        for path in discover_files(self.paths):
            if isinstance(path, Problem) or format_of(path) != "jsonl" or not os.path.isfile(path):
                return ()
            snapshot = found[path] = Snapshot([path, *find_sidecars(path)], self._cwd)
            snapshot.look()
            try:
                snapshot.keep()
            except ConfigError:  # one is being written to; who looks at the cases says so
                return ()
            hashes |= snapshot.digests
        if UNREADABLE in hashes.values() or not is_known(hashes):
            return ()
        self._files = found
        return found

    def _check_whole(self, path: str) -> tuple[Case, ...]:
        snapshot = self._held[path] = Snapshot([path], self._cwd)
        snapshot.look()
        loaded = load_file(path, known=self._known, on_file=snapshot.add)
        for problem in loaded.problems:
            self._note(problem)
        if loaded.suite is None and loaded.is_read:
            self.invalid.append(path)
        cases = loaded.suite.cases if loaded.suite is not None else ()
        self._files[path] = cases
        self._origins[path] = loaded.numbers
        return cases

    def _check_lines(self, path: str) -> Iterator[Case]:
        held: list[Case] | None = [] if self._fits(path) else None
        snapshot = Snapshot([path, *find_sidecars(path)], self._cwd)
        snapshot.look()
        for item in stream_cases(path, self._known, snapshot.add):
            if isinstance(item, Problem):
                self._note(item)
            elif item is not None:
                if held is not None:
                    held.append(item)
                yield item
        if held is not None:
            self._files[path] = tuple(held)
            self._held[path] = snapshot
            return
        snapshot.keep()
        self._files[path] = snapshot

    def _note(self, problem: Problem) -> None:
        # Warnings are counted only: there may be some in each of a million cases.
        if problem.severity == "error":
            self._errors.append(problem)
        self.warnings += problem.severity == "warning"
        self.notes += problem.severity == "note"

    def _fits(self, path: str) -> bool:
        size = os.path.getsize(path) if os.path.isfile(path) else self._room + 1
        if size > self._room:
            return False
        self._room -= size
        return True

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        for path, cases in self._files.items():
            if isinstance(cases, Snapshot):
                given = _read_again(self._place(path), cases)
            else:
                given = self._look_up(cases)
            for case in given:
                yield path, case

    def _look_up(self, cases: tuple[Case, ...]) -> Iterator[Case]:
        """Cases that are held, with a look at the files now and then: the more of them there are,
        the more seldom."""
        every = max(_LOOK_EVERY, sum(map(len, self._held.values())))
        for number, case in enumerate(cases):
            if number % every == 0:
                self.verify()
            yield case

    def hashes(self) -> dict[str, str]:
        for snapshot in self._held.values():
            if not snapshot.digests:
                snapshot.keep()
        return {path: self._snapshot(path).digests[path] for path in self._files}

    def file_hashes(self) -> dict[str, str]:
        hashes: dict[str, str] = {}
        for path in self.hashes():
            hashes |= self._snapshot(path).digests
        return hashes

    def verify(self) -> None:
        for snapshot in self._held.values():
            snapshot.verify()

    def lines(self, wanted: WantsCase) -> Iterator[tuple[str, str, int]]:
        from evalcase.suites.case_lines import held_lines, stream_lines

        for path, cases in self._files.items():
            snapshot = self._snapshot(path)
            snapshot.verify()
            place, wants = self._place(path), partial(wanted, path)
            if isinstance(cases, tuple) and path in self._origins:
                found = held_lines(place, cases, self._origins[path], wants)
            else:
                found = stream_lines(place, wants)
            for id, line in found:
                yield path, id, line
            snapshot.verify()

    def _snapshot(self, path: str) -> Snapshot:
        """What the file of a suite was like."""
        cases = self._files[path]
        return cases if isinstance(cases, Snapshot) else self._held[path]

    def _place(self, path: str) -> str:
        return os.path.join(self._cwd, path)


def _read_again(path: str, snapshot: Snapshot) -> Iterator[Case]:
    """The cases of a file that was valid. Raise ConfigError if it is not what it was then: before
    a case of another file is given, and before the end of a shorter one is taken for its end."""
    named: list[str] = []
    stream = stream_cases(path, on_file=named.append, on_read=snapshot.verify_own)
    for number, item in enumerate(stream):
        if named or number % _LOOK_EVERY == 0:
            snapshot.verify_own(named)
            named.clear()
        if isinstance(item, Case):
            yield item
        elif isinstance(item, Problem) and item.severity == "error":
            raise SuiteError([item])
    snapshot.verify()
