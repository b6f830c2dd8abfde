"""Suites and cases that a program has made, or has loaded already, as the cases of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from json import dumps

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.case import Case
from evalcase.model.finding import Unfit
from evalcase.model.problem import Problem
from evalcase.model.suite import Suite
from evalcase.suites.collection import WantsCase
from evalcase.system.attachments import find_attachments


class HeldSuites:
    """Suites that a program has made, or has loaded already."""

    def __init__(self, suites: Iterable[Suite]) -> None:
        self._suites = tuple(suites)
        self.warnings = self.notes = 0
        self.invalid: list[str] = []

    def check(self) -> Iterator[tuple[str, Case]]:
        """Every case; then SuiteError if one names a file that can't be used."""
        problems = []
        for suite, case in self:
            found = find_attachments(suite, case.written_messages) if case.has_parts else {}
            if isinstance(found, Unfit):
                code, message, hint = found
                problems.append(Problem(code, message, suite, hint=hint, case=case.id))
            yield suite, case
        if problems:
            raise SuiteError(problems)

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        for suite in self._suites:
            for case in suite:
                yield suite.path, case

    def hashes(self) -> dict[str, str]:
        return {suite.path: _hash_cases(suite) for suite in self._suites}

    def file_hashes(self) -> dict[str, str]:
        return {}

    def verify(self) -> None:
        """Nobody but the program itself can change them."""

    def lines(self, wanted: WantsCase) -> None:
        """They are no files, or not read here."""


def _hash_cases(suite: Suite) -> str:
    digest = sha256()
    for case in suite:
        digest.update(dumps(case._data, sort_keys=True).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def hold_suites(what: object) -> tuple[tuple[str, ...], HeldSuites | None]:
    """Paths to read suites from; or suites and cases that are there already, held."""
    if isinstance(what, str | os.PathLike):
        return (os.fspath(what),), None
    if isinstance(what, Suite):
        return (what.path,), HeldSuites([what])
    if isinstance(what, Case):
        what = (what,)
    if not isinstance(what, Iterable) or isinstance(what, Mapping):
        raise TypeError(f"evaluate() takes paths, suites or cases, not {_describe_odd(what)}")
    several = list(what)
    if not several:
        raise ConfigError("evaluate() was given an empty list: it takes paths, suites or cases")
    if all(isinstance(each, Suite) for each in several):
        _check_ids(several)
        return tuple(suite.path for suite in several), HeldSuites(several)
    if all(isinstance(each, Case) for each in several):
        from evalcase.suites.own_ids import number_cases  # who runs files need not wait for it

        suite = Suite(IN_CODE, {"name": "cases"}, number_cases(several, IN_CODE))
        return (IN_CODE,), HeldSuites([suite])
    odd = next((each for each in several if not isinstance(each, str | os.PathLike)), None)
    if odd is not None:
        kinds = ", ".join(dict.fromkeys(type(each).__name__ for each in several))
        raise TypeError(
            f"evaluate() takes paths, or suites, or cases, and all of one kind, not {kinds}; "
            "`Case(mapping)` makes a case of a mapping"
        )
    return tuple(os.fspath(each) for each in several), None


def _describe_odd(what: object) -> str:
    if isinstance(what, Mapping):
        return "a mapping: `Case(mapping)` makes a case of one"
    name = type(what).__name__
    return f"{name}: the target comes second, evaluate(what, target)" if callable(what) else name


IN_CODE = "<cases>"
"""The path of cases that were made in Python."""


def _check_ids(suites: Iterable[Suite]) -> None:
    """Results are told apart by the path of their suite and the id of their case."""
    seen: set[tuple[str, str]] = set()
    for suite in suites:
        for case in suite:
            if (suite.path, case.id) in seen:
                message = f"two suites have the path {suite.path} and a case `{case.id}`"
                hint = "leave one of them out, or give one of the cases another id"
                problem = Problem("duplicate-id", message, suite.path, hint=hint, case=case.id)
                raise SuiteError([problem])
            seen.add((suite.path, case.id))
