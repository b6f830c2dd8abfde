"""Cases in tests of one's own: `@evalcase.cases(…)` runs a test function once for each case of
files, and `assert_case` grades an answer as a run would, without a record. Tags of cases become
marks of pytest."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from evalcase.api import prepare_evaluation
from evalcase.config.catalogue import Catalogue
from evalcase.config.options import Selection
from evalcase.errors import ConfigError, GraderError, SuiteError
from evalcase.format.load import case_spans, has_errors, load_each
from evalcase.graders.limits import UNKNOWN_TIME
from evalcase.report.details import detail_lines
from evalcase.report.terminal import Screen, seen_from
from evalcase.runner.event_loop import run_async
from evalcase.runner.select import UnmatchedFilters, make_selector
from evalcase.runner.suites import IN_CODE
from evalcase.targets.answers import read_answer
from evalcase.types.answer import Answer, Earlier
from evalcase.types.case import Case, Suite, canonical_case
from evalcase.types.problem import Problem
from evalcase.types.result import Result
from evalcase.types.target import Question, Target
from evalcase.types.value import replace
from evalcase.util.text import make_visible

if TYPE_CHECKING:
    from evalcase.api import GivenGraders

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
    parameters = []
    for case in chosen:
        marks = [mark_named("evalcase"), *marks_of_tags(case.tags)]
        if case.skip:
            marks.append(pytest.mark.skip(reason=why_skipped(case)))
        suite = f"{names[case.suite]}:" if names else ""
        parameters.append(pytest.param(case, id=make_visible(f"{suite}{case.id}"), marks=marks))
    return pytest.mark.parametrize(argument, parameters)


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


def _read_texts(name: str, value: str | Iterable[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    texts = (value,) if isinstance(value, str) else tuple(value)
    if not texts:
        raise ConfigError(f"`{name}` is empty, and chooses no case: without it, all are chosen")
    return texts


_WIDTH = 80


def assert_case(
    answer: object,
    case: Case,
    *,
    graders: GivenGraders = (),
    duration_s: float | None = None,
    root: str | os.PathLike[str] | None = None,
) -> Result:
    """Grade an answer, in any form that a target may return. Return the result if it passes.

    Raise AssertionError, with what differs, if it doesn't pass, and GraderError if a grader broke.
    `duration_s` is how long the answer took, if the test measured it.

    A running event loop is blocked meanwhile; `assert_case_async` does not block it.
    """
    __tracebackhide__ = True
    context, done = copy_context(), Future[Result]()

    def grade() -> None:
        try:
            grading = _grade_answer(answer, case, graders, duration_s, root)
            done.set_result(context.run(run_async, grading))
        except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
            done.set_exception(error)

    # A thread has no event loop, whatever there is where a test is run.
    Thread(target=grade, name="evalcase-assert", daemon=True).start()
    return _judge_result(done.result(), case)


async def assert_case_async(
    answer: object,
    case: Case,
    *,
    graders: GivenGraders = (),
    duration_s: float | None = None,
    root: str | os.PathLike[str] | None = None,
) -> Result:
    """The same for a test whose event loop goes on meanwhile, say because it has the judge."""
    __tracebackhide__ = True
    return _judge_result(await _grade_answer(answer, case, graders, duration_s, root), case)


async def _grade_answer(
    answer: object, case: Case, graders: GivenGraders, duration_s: float | None,
    root: str | os.PathLike[str] | None,
) -> Result:  # fmt: skip
    if case.is_conversation:
        raise ConfigError(f"case `{case.id}` is a conversation, which no single answer can pass")
    given = read_answer(answer)
    # It takes no time to say what is known: only who asked knows how long it took.
    known = replace(given, earlier=given.earlier or Earlier(duration_s, given.cost_usd))
    data = {name: value for name, value in case._data.items() if name != "skip"}
    path = case.suite if isinstance(case, PlacedCase) else IN_CODE
    suite = Suite(path, {"name": "case"}, (canonical_case(data),))

    class Known(Target):
        async def answer(self, question: Question) -> Answer:  # noqa: ARG002
            return known

    with TemporaryDirectory(prefix="evalcase-") as folder:
        execution = prepare_evaluation(
            suite, Known(), graders, root, repeat=1, cache=False, runs_dir=folder
        )
        done = await execution.run()
        for result in done.results:
            return result
    raise ConfigError(f"case `{case.id}` could not be graded: {done.notice or done.status}")


def _judge_result(result: Result, case: Case) -> Result:
    __tracebackhide__ = True
    if result.verdict == "passed":
        return result
    place = f" ({make_visible(case.place)})" if isinstance(case, PlacedCase) else ""
    lines = [f"case `{make_visible(case.id)}` {result.verdict}{place}"]
    lines += detail_lines(result, case, Screen(_WIDTH))
    if result.verdict != "errored":
        raise AssertionError("\n".join(lines))
    broken = [grade.failure for grade in result.grades if grade.failure is not None]
    failure = result.failure or (broken[0] if broken else None)
    if any(each.message == UNKNOWN_TIME for each in broken):
        lines.append("  say how long it took: assert_case(…, duration_s=1.5)")
    kind, details = ("grader", {}) if failure is None else (failure.kind, failure.details)
    raise GraderError(kind, "\n".join(lines), details)
