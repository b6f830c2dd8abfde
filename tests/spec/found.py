"""What is found in a text: the helpers that the tests of the format share."""

import evalcase
from evalcase.errors import SuiteError
from evalcase.format.positions import Format
from evalcase.types.problem import Problem

Place = tuple[str, int, int, int, int]
"""A code, then line, column, end line and end column."""


def problems_of(text: str, format: Format = "yaml") -> list[Problem]:
    """All errors and warnings of a suite, but for the one that many of these small cases have."""
    try:
        problems = evalcase.loads(text, format).warnings
    except SuiteError as error:
        problems = error.problems
    return [problem for problem in problems if problem.code != "nothing-to-grade"]


def places(text: str, format: Format = "yaml") -> list[Place]:
    found = []
    for problem in problems_of(text, format):
        assert problem.span is not None
        found.append((problem.code, *problem.span))
    return found


def only_problem(text: str, format: Format = "yaml") -> Problem:
    (problem,) = problems_of(text, format)
    return problem
