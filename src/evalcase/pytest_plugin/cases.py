"""`@evalcase.cases(…)`: runs a test function once for each case of some files. Tags of cases become
marks of pytest."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from evalcase.config.catalogue import Catalogue
from evalcase.config.options import Selection
from evalcase.errors import ConfigError, SuiteError
from evalcase.format.load import case_spans, has_errors, load_each
from evalcase.report.terminal import seen_from
from evalcase.runner.select import UnmatchedFilters, make_selector
from evalcase.types.case import Case, Suite
from evalcase.types.problem import Problem
from evalcase.util.text import make_visible

_MEANT_FOR_PYTEST = frozenset(
    {"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}
)
"""Marks that would do something to a test. A tag is only a name."""


_UNUSABLE = re.compile(r"[^\w+\-.\[\]\\/]")
"""Characters that an expression after `-m` can't have."""


def marks_of_tags(tags: Iterable[str]) -> Iterator[pytest.MarkDecorator]:
    """A mark for each tag, except for names that mean something to pytest. `needs gpu` is also the
    mark `needs_gpu`, which `-m` can name."""
    for name in dict.fromkeys(name for tag in tags for name in (tag, _UNUSABLE.sub("_", tag))):
        if name not in _MEANT_FOR_PYTEST:
            yield mark_named(name)


def mark_named(name: str) -> pytest.MarkDecorator:
    """`getattr(pytest.mark, name)`, also for a name that is not registered."""
    return pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)


def why_skipped(case: Case) -> str:
    """Why a case is skipped; empty if it is not."""
    return case.skip if isinstance(case.skip, str) else "skip: true" if case.skip else ""


class PlacedCase(Case):
    """A case of a file. It is equal to the same case without one."""

    __slots__ = ("number", "suite")

    suite: str
    """The path of its file."""
    number: int
    """Which of its cases it is, from 0."""

    def __init__(self, data: dict[str, Any], suite: str, number: int) -> None:
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "suite", suite)
        object.__setattr__(self, "number", number)

    def __reduce__(self) -> tuple[Any, ...]:
        return PlacedCase, (self._data, self.suite, self.number)

    __hash__ = Case.__hash__

    @property
    def place(self) -> str:
        """The file and, while it is there, the line."""
        (span,) = case_spans(self.suite, [self.number])
        return self.suite if span is None else f"{self.suite}:{span.line}"


def cases(
    *paths: str | os.PathLike[str],
    tag: str | Iterable[str] | None = None,
    id: str | Iterable[str] | None = None,
    argument: str = "case",
) -> pytest.MarkDecorator:
    """Parametrize a test function with the cases of eval files, or of folders with such.

    Paths are seen from the folder of the test's file. `tag` and `id` choose cases: one with any of
    the tags, with an id that matches any of the patterns. The function gets each as `argument`.

    Raise SuiteError if a file is not valid, ConfigError if no case is like what is asked for.
    """
    folder = os.path.dirname(sys._getframe(1).f_globals.get("__file__") or "")  # noqa: SLF001 - who calls
    cwd = os.getcwd()
    loaded = _load_suites(seen_from(cwd, os.path.join(folder, os.fspath(path))) for path in paths)
    selection = Selection(cases=_read_texts("id", id), tags=_read_texts("tag", tag))
    chosen = _choose_cases(loaded, selection)
    names = {suite.path: suite.name for suite, _ in loaded} if len(loaded) > 1 else {}
    return pytest.mark.parametrize(argument, [_make_parameter(case, names) for case in chosen])


def _load_suites(paths: Iterable[str]) -> list[tuple[Suite, Sequence[int]]]:
    """The suites, each with the numbers that its cases have as they are written."""
    suites: list[tuple[Suite, Sequence[int]]] = []
    problems: list[Problem] = []
    for loaded in load_each(paths, Catalogue(needs_graders=True)):
        problems += loaded.problems
        if loaded.suite is not None:
            suites.append((loaded.suite, loaded.numbers))
    if has_errors(problems):
        raise SuiteError(problems)
    if not suites:
        raise ConfigError("evalcase.cases() takes the path of an eval file, or several")
    return suites


def _choose_cases(
    suites: Iterable[tuple[Suite, Sequence[int]]], selection: Selection
) -> list[PlacedCase]:
    """Raise ConfigError for what is asked for and no case has: a test of nothing would pass."""
    selector = make_selector(selection, lambda path: path)
    unmatched = UnmatchedFilters(selector)
    placed = [
        (suite.path, PlacedCase(case._data, suite.path, number))
        for suite, numbers in suites
        for number, case in zip(numbers, suite, strict=True)
    ]
    found = selector.select(unmatched.watch(placed))
    chosen = [case for _, case in found if isinstance(case, PlacedCase)]
    said = unmatched.describe(placed)
    if said is not None or not chosen:
        raise ConfigError(said or "no case is left: none has all that was asked for")
    return chosen


def _make_parameter(case: PlacedCase, names: Mapping[str, str]) -> object:
    marks = [mark_named("evalcase"), *marks_of_tags(case.tags)]
    if case.skip:
        marks.append(pytest.mark.skip(reason=why_skipped(case)))
    suite = f"{names[case.suite]}:" if names else ""
    return pytest.param(case, id=make_visible(f"{suite}{case.id}"), marks=marks)


def _read_texts(name: str, value: str | Iterable[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    texts = (value,) if isinstance(value, str) else tuple(value)
    if not texts:
        raise ConfigError(f"`{name}` is empty, and chooses no case: without it, all are chosen")
    return texts
