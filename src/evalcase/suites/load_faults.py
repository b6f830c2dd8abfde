"""Graders that can't be used to problems, at the places where suites name what is at fault."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from evalcase.model.finding import Unfit
from evalcase.model.problem import Problem, in_order
from evalcase.model.value import replace
from evalcase.plugins.grader_loading import CaseFault
from evalcase.plugins.known import InProject
from evalcase.project.config import Config
from evalcase.suites.case_places import find_case_span
from evalcase.suites.load import load_file

if TYPE_CHECKING:
    from evalcase.model.known import What


_TELLING = 60
"""By so many characters messages are told apart: of a long one, a problem has no more for sure."""


def place_load_faults(
    faults: Sequence[CaseFault], config: Config, *, held: bool = False, whatever_else: bool = False
) -> list[Problem]:
    """A problem for each place that names something which can't be used. Suites that are `held`
    come from a program, and have no text to point into. What `check` says of the same is said in
    place of a fault, unless the fault holds `whatever_else` is wrong."""
    by_suite: dict[str, list[CaseFault]] = {}
    for each in faults:
        by_suite.setdefault(each.suite, []).append(each)
    found = [
        problem
        for suite, its in by_suite.items()
        for problem in (_at_case(its) if held else _place_faults(suite, its, config, whatever_else))
    ]
    return in_order([replace(problem, stops=True) for problem in found])


def _place_faults(
    suite: str, faults: Sequence[CaseFault], config: Config, whatever_else: bool
) -> Iterator[Problem]:
    known = _Unusable(config, faults, whatever_else)
    problems = load_file(suite, keep=False, known=known).problems
    yield from [each for each in problems if (each.code, each.message[:_TELLING]) in known.said]
    left = [each for each in faults if not known.has_said(each)]
    yield from _at_case(left)


def _at_case(faults: Sequence[CaseFault]) -> Iterator[Problem]:
    """The place of the case, if it has one, is the nearest that is known."""
    for path, case, fault in faults:
        span = find_case_span(path, case)
        yield Problem("bad-grader", fault.message, path, span, case=case)


class _Unusable(InProject):
    """Objects to what was found to be of no use, and to nothing else."""

    def __init__(self, config: Config, faults: Sequence[CaseFault], whatever_else: bool) -> None:
        super().__init__(lambda: config)
        self._whatever_else = whatever_else
        self._why = {(each.fault.what, each.fault.name): each.fault.message for each in faults}
        self._told: set[tuple[What | None, str]] = set()
        self.said: set[tuple[str, str]] = set()
        """The codes of what was objected to, and how their messages begin."""

    def object_to_call(self, function: str, arguments: Collection[str]) -> Unfit | None:
        """What is used was, or will be, looked at once it is imported."""
        del function, arguments
        return None

    def object_to(self, what: What, name: str) -> Unfit | None:
        why = self._why.get((what, name))
        if why is None:
            return None
        unfit = None if self._whatever_else else super().object_to(what, name)
        unfit = unfit or Unfit("bad-grader", why)
        self._told.add((what, name))
        self.said.add((unfit.code, unfit.message[:_TELLING]))
        return unfit

    def has_said(self, fault: CaseFault) -> bool:
        return (fault.fault.what, fault.fault.name) in self._told
