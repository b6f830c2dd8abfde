"""Every exception evalcase raises on purpose.

EvalcaseError
└── SuiteError    one or more files are not valid suites; `.problems` says what and where

Anything else that escapes is a bug in evalcase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalcase.model.problem import Problem


class EvalcaseError(Exception):
    """The base of all errors raised by evalcase."""


def printable(text: str) -> str:
    """Text for a log or a traceback, with nothing in it that a terminal would obey."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


class SuiteError(EvalcaseError):
    """A suite is not valid. `problems` has every problem found, warnings included."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems)
        self.problems: tuple[Problem, ...] = tuple(problems)

    def __str__(self) -> str:
        errors = [problem for problem in self.problems if problem.severity == "error"]
        lines = [f"{len(errors)} {'error' if len(errors) == 1 else 'errors'}"]
        for problem in errors:
            lines.append(f"  {problem}")
            if problem.hint:
                lines.append(f"    hint: {printable(problem.hint)}")
        return "\n".join(lines)
