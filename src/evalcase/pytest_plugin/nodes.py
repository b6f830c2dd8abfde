"""An eval file as pytest sees it, and its items: one for each case at each of its targets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from evalcase.cli.terminal import seen_from
from evalcase.errors import SuiteError
from evalcase.format.load import case_spans, load_each
from evalcase.pytest_plugin.conductor import NotRunError
from evalcase.pytest_plugin.marks import marks_of_tags, why_skipped
from evalcase.pytest_plugin.told import CaseKey, ToldItem
from evalcase.types.case import Case
from evalcase.util.text import make_visible

if TYPE_CHECKING:
    from evalcase.pytest_plugin.session import EvalSession


class EvalFile(pytest.File):
    """An eval file. Nothing is asked while it is collected."""

    def __init__(self, *, evals: EvalSession, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**kwargs)
        self.evals = evals
        self.suite = seen_from(evals.settings.cwd, os.fspath(self.path))
        """Its path as a run names it."""
        self.items: list[EvalItem] = []
        self._numbers: Sequence[int] = ()

    def collect(self) -> list[EvalItem]:
        (loaded,) = load_each([self.suite], self.evals.known)
        if loaded.suite is None:
            raise self.CollectError(str(SuiteError(loaded.problems)))
        self._numbers = loaded.numbers
        self.items = list(self._make_items(loaded.suite.cases))
        return self.items[:]

    def _make_items(self, cases: tuple[Case, ...]) -> Iterator[EvalItem]:
        taken: set[str] = set()
        for number, case in enumerate(cases):
            targets = self.evals.targets_of(case)
            for target in targets:
                at = f"[{make_visible(target)}]" if len(targets) > 1 else ""
                name = _find_free_name(_name_of_id(case.id) + at, taken)
                key = CaseKey(self.suite, case.id, target)
                yield EvalItem.from_parent(self, name=name, case=case, number=number, key=key)

    def line_of(self, number: int) -> int:
        """The line of a case, from 0."""
        return self._lines[number]

    @cached_property
    def _lines(self) -> list[int]:
        """Those of all cases at once, for which the file is read anew."""
        spans = case_spans(self.suite, self._numbers)
        return [0 if span is None else span.line - 1 for span in spans]


class EvalItem(pytest.Item):
    """A case at a target."""

    def __init__(self, *, case: Case, number: int, key: CaseKey, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**kwargs)
        assert isinstance(self.parent, EvalFile)
        self.file = self.parent
        self.key = key
        self._number = number
        self.skip_reason = why_skipped(case)
        self._told: ToldItem | None = None
        self.add_marker(pytest.mark.evalcase)
        for mark in marks_of_tags(case.tags, self.config):
            self.add_marker(mark)
        self.extra_keyword_matches.update((*case.tags, key.target))

    def setup(self) -> None:
        """Wait for what came of it. What broke is raised here: pytest calls that an error."""
        if self.skip_reason:
            pytest.skip(self.skip_reason)
        if self.config.getoption("setuponly", False) or self.config.getoption("setupplan", False):
            return  # only what would be set up is to be shown: nobody is asked, nothing recorded
        try:
            told = self._told = self.file.evals.wait(self)
        except NotRunError as error:
            self._told = ToldItem("errored", error.brief, str(error))
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        self.user_properties += told.properties
        if told.verdict == "errored":
            self._fail(told)

    def runtest(self) -> None:
        """What isn't graded doesn't pass, either."""
        if self._told is not None and self._told.verdict != "passed":
            self._fail(self._told)

    def _fail(self, told: ToldItem) -> None:
        path, line, _ = self.reportinfo()
        place = f"{seen_from(self.file.evals.settings.cwd, os.fspath(path))}:{line + 1}"
        raise pytest.fail.Exception(f"{told.text}\n\n{place}: {told.verdict}", pytrace=False)

    def complete(self, report: pytest.TestReport) -> None:
        """Put into a report of pytest what only the run knows: place, reason and duration."""
        path, line, _ = self.reportinfo()
        if report.skipped and self.skip_reason:
            report.longrepr = (os.fspath(path), line + 1, f"Skipped: {self.skip_reason}")
        told = self._told
        is_end = report.when == "call" or (report.when == "setup" and report.failed)
        report.duration = told.duration_s if told is not None and is_end else 0.0
        crash = getattr(report.longrepr, "reprcrash", None)
        if told is not None and report.failed and crash is not None:
            crash.path, crash.lineno, crash.message = os.fspath(path), line + 1, told.reason

    def reportinfo(self) -> tuple[os.PathLike[str], int, str]:
        return self.path, self.file.line_of(self._number), self.name


def _name_of_id(id: str) -> str:
    """An id as a part of a node id, where `::` has a meaning."""
    return make_visible(id).replace("::", ":")


def _find_free_name(name: str, taken: set[str]) -> str:
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name}-{count}"
    taken.add(free)
    return free
