"""An answer that a test has, graded by a case as a run would grade it; nothing is recorded."""

from __future__ import annotations

import os
from concurrent.futures import Future
from contextvars import copy_context
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING

from evalcase.api import prepare_evaluation
from evalcase.errors import ConfigError, GraderError
from evalcase.graders.limits import UNKNOWN_TIME
from evalcase.pytest_plugin.cases import PlacedCase
from evalcase.report.details import detail_lines, result_heard
from evalcase.report.terminal import Screen
from evalcase.runner.event_loop import run_async
from evalcase.runner.suites import IN_CODE
from evalcase.targets.answers import read_answer
from evalcase.types.answer import Answer, Earlier
from evalcase.types.case import Case, Suite, canonical_case
from evalcase.types.result import Result
from evalcase.types.target import Question, Target
from evalcase.types.value import replace
from evalcase.util.text import make_visible

if TYPE_CHECKING:
    from evalcase.api import GivenGraders

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


class _Known(Target):
    """Answers what is known already."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def answer(self, question: Question) -> Answer:
        del question
        return self._answer


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
    with TemporaryDirectory(prefix="evalcase-") as folder:
        execution = prepare_evaluation(
            suite, _Known(known), graders, root, repeat=1, cache=False, runs_dir=folder
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
    lines += detail_lines(result, result_heard(result), case, Screen(_WIDTH))
    if result.verdict != "errored":
        raise AssertionError("\n".join(lines))
    broken = [grade.failure for grade in result.grades if grade.failure is not None]
    failure = result.failure or (broken[0] if broken else None)
    if any(each.message == UNKNOWN_TIME for each in broken):
        lines.append("  say how long it took: assert_case(…, duration_s=1.5)")
    kind, details = ("grader", {}) if failure is None else (failure.kind, failure.details)
    raise GraderError(kind, "\n".join(lines), details)
