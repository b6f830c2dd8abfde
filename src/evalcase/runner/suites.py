"""The suites of a run: checked as a whole first, then iterated over as often as needed, as long as
their files don't change."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count, islice
from json import dumps
from typing import Any, TypeAlias

from msgspec import Struct

from evalcase.errors import ConfigError, SuiteError
from evalcase.format.case import Ids, known_by
from evalcase.format.load import CaseStream, load_file
from evalcase.format.source import STDIN, discover_files, find_sidecars
from evalcase.graders.base import Known
from evalcase.types.case import Case, Suite, canonical_case
from evalcase.types.problem import Finding, Problem
from evalcase.util.files import digest_file
from evalcase.util.project import find_attachments

IN_CODE = "<cases>"
"""The path of cases that a program made."""

_BATCH = 100
"""How many cases are read between two looks at their files."""
_HELD_BYTES = 2_000_000
"""How much of JSONL is held in memory, which takes some 15 times as much; the rest is read again.
"""


class _Watched(Struct):
    """A file, its time stamp and its hash, once it is known."""

    name: str
    stamp: object
    digest: str | None = None


class _WatchedFiles(Struct):
    """Files that a run rests on. Their time stamps tell that one was written to; only then its
    content is compared with what it was."""

    _cwd: str
    """Paths are relative to it, also after a target changes the working folder."""
    _files: dict[str, _Watched] = {}

    def watch(self, path: str) -> None:
        """Remember a file. To be called before the file is read."""
        place = self._place(path)
        if place not in self._files:
            self._files[place] = _Watched(path, _stamp(place))

    def hashes(self) -> dict[str, str]:
        hashes: dict[str, str] = {}
        for place, file in self._files.items():
            if file.digest is None:
                file.digest = digest_file(place)
                if _stamp(place) != file.stamp:
                    raise ConfigError(f"{file.name} changed while it was checked")
            hashes[file.name] = file.digest
        return hashes

    def verify(self, paths: Iterable[str] | None = None) -> None:
        for place in self._files if paths is None else map(self._place, paths):
            file, stamp = self._files.get(place), _stamp(place)
            if file is None:
                raise ConfigError(f"{place} was not there when the suite was checked")
            if stamp != file.stamp:
                if None in (stamp, file.digest) or digest_file(place) != file.digest:
                    raise ConfigError(f"{file.name} changed while it was run")
                file.stamp = stamp

    def _place(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._cwd, path))


def _stamp(path: str) -> object:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


class Suites:
    """Suites of files. They are valid after `check` was iterated to its end. Documents are held in
    memory, and small JSONL files. Larger ones are read again each time, so that the number of cases
    doesn't matter."""

    def __init__(self, paths: tuple[str, ...], cwd: str, known: Known) -> None:
        """Paths are relative to `cwd`."""
        if STDIN in paths:
            raise ConfigError("a run reads files, not standard input: it must be resumable")
        self.warnings = self.notes = 0
        self.invalid: list[str] = []
        """The documents with errors: nothing is known of their cases."""
        self._paths = paths
        self._cwd = cwd
        self._known = known
        self._watched = _WatchedFiles(cwd)
        self._files: dict[str, Sequence[Case] | None] = {}
        """The cases of each file that is held; None for one that is read again."""
        self._room = _HELD_BYTES
        self.change: Callable[[Case], Case] | None = None
        """What --oracle makes of each case."""

    def check(self) -> Iterator[tuple[str, Case]]:
        """Every valid case. At the end, raise SuiteError with all errors if there are any."""
        errors: list[Problem] = []
        for path in discover_files(self._paths):
            for item in [path] if isinstance(path, Problem) else self._check_file(path):
                if isinstance(item, Case):
                    yield str(path), item if self.change is None else self.change(item)
                elif isinstance(item, Problem):
                    # Warnings are only counted: there may be some in each of a million cases.
                    self.warnings += item.severity == "warning"
                    self.notes += item.severity == "note"
                    if item.severity == "error":
                        errors.append(item)
        if errors:
            raise SuiteError(errors)

    def _check_file(self, path: str) -> Iterable[Case | Problem | None]:
        self._watched.watch(path)
        if path.lower().endswith(".jsonl") and os.path.isfile(path):
            for sidecar in find_sidecars(path):
                self._watched.watch(sidecar)
            stream = CaseStream(path, self._known, self._watched.watch)
            self._room -= os.path.getsize(path)
            self._files[path] = None
            return stream if self._room < 0 else self._hold(path, stream)
        loaded = load_file(path, self._known, on_file=self._watched.watch)
        if loaded.suite is None and loaded.is_read:
            self.invalid.append(path)
        cases = loaded.suite.cases if loaded.suite is not None else ()
        self._files[path] = cases
        return [*loaded.problems, *cases]

    def _hold(self, path: str, stream: CaseStream) -> Iterator[Case | Problem | None]:
        cases: list[Case] = []
        for item in stream:
            if isinstance(item, Case):
                cases.append(item)
            yield item
        self._files[path] = cases

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        """The cases again, after `check`. Raise ConfigError if a file has changed since."""
        for path, held in self._files.items():
            place = os.path.join(self._cwd, path)
            own, used = [place, *find_sidecars(place)], list[str]()
            stream = CaseStream(place, self._known, used.append) if held is None else held
            items: Iterator[object] = iter(stream)
            # A batch is given only if its files are unchanged after it was read.
            while batch := list(islice(items, _BATCH)):
                self._watched.verify((*own, *used))
                used.clear()
                for item in batch:
                    if isinstance(item, Case):
                        yield path, item if self.change is None else self.change(item)
                    elif isinstance(item, Problem) and item.severity == "error":
                        raise SuiteError([item])
            self._watched.verify(own)
        self.verify()

    def hashes(self) -> dict[str, str]:
        hashes = self._watched.hashes()
        return {path: hashes[path] for path in self._files}

    def verify(self) -> None:
        self._watched.verify()


class HeldSuites:
    """Suites that a program has made, or has loaded already."""

    def __init__(self, suites: Iterable[Suite]) -> None:
        self._suites = tuple(suites)
        self.warnings = self.notes = 0
        self.invalid: list[str] = []
        self.change: Callable[[Case], Case] | None = None

    def check(self) -> Iterator[tuple[str, Case]]:
        """Every case. At the end, raise SuiteError if one names a file that can't be used."""
        problems = []
        for suite, case in self:
            found = find_attachments(suite, case.written_messages) if case.has_parts else {}
            if isinstance(found, Finding):
                problem = Problem(found.code, found.message, suite, hint=found.hint, case=case.id)
                problems.append(problem)
            yield suite, case
        if problems:
            raise SuiteError(problems)

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        for suite in self._suites:
            for case in suite:
                yield suite.path, case if self.change is None else self.change(case)

    def hashes(self) -> dict[str, str]:
        hashes = {}
        for suite in self._suites:
            digest = sha256()
            for case in suite:
                digest.update(dumps(case._data, sort_keys=True).encode("utf-8", "surrogatepass"))
            hashes[suite.path] = digest.hexdigest()
        return hashes

    def verify(self) -> None:
        pass


SomeSuites: TypeAlias = Suites | HeldSuites


def hold_suites(what: object) -> tuple[tuple[str, ...], HeldSuites | None]:
    """Read the first argument of `evaluate`: the paths, and the suites if they are given."""
    is_one = isinstance(what, str | os.PathLike | Suite | Case | Mapping)
    several: list[Any] = [what] if is_one or not isinstance(what, Iterable) else list(what)
    if not several:
        raise ConfigError("evaluate() was given an empty list: it takes paths, suites or cases")
    if all(isinstance(each, str | os.PathLike) for each in several):
        return tuple(map(os.fspath, several)), None
    if all(isinstance(each, Case) for each in several):
        several = [Suite(IN_CODE, {"name": "cases"}, number_cases(several, IN_CODE))]
    if not all(isinstance(each, Suite) for each in several):
        kinds = ", ".join(dict.fromkeys(type(each).__name__ for each in several))
        raise TypeError(
            f"evaluate() takes paths, suites or cases, not {kinds}; "
            "`Case(mapping)` makes a case of a mapping"
        )
    # Results are identified by the path of the suite and the id of the case.
    seen: set[tuple[str, str]] = set()
    for suite in several:
        for case in suite:
            if (suite.path, case.id) in seen:
                message = f"two suites have the path {suite.path} and a case `{case.id}`"
                hint = "leave one of them out, or give one of the cases another id"
                problem = Problem("duplicate-id", message, suite.path, hint=hint, case=case.id)
                raise SuiteError([problem])
            seen.add((suite.path, case.id))
    return tuple(suite.path for suite in several), HeldSuites(several)


def number_cases(cases: Sequence[Case], path: str) -> tuple[Case, ...]:
    """The cases, with copies numbered whose ids were made of the same input.

    Raise SuiteError, with all of them, for ids that were written twice.
    """
    ids, numbered, problems = Ids(), list[Case](), list[Problem]()
    numbers: dict[str, Iterator[int]] = {}
    for case in cases:
        made = Ids().make(known_by(case._data))
        if ids.claim(case.id):
            numbered.append(case)
        elif re.fullmatch(rf"{re.escape(made)}(-\d+)?", case.id):
            copies = (f"{made}-{number}" for number in numbers.setdefault(made, count(2)))
            numbered.append(canonical_case({**case._data, "id": next(filter(ids.claim, copies))}))
        else:
            hint = "give each case an id of its own, or none: then one is made of its input"
            message = f"the id `{case.id}` is used twice"
            problems.append(Problem("duplicate-id", message, path, hint=hint, case=case.id))
    if problems:
        raise SuiteError(problems)
    return tuple(numbered)
