"""Every exception evalcase raises on purpose.

EvalcaseError
├── SuiteError     one or more files are not valid suites; `.problems` says what and where
├── ConfigError    the configuration or a name in it can't be used: a target, an option;
│                  `.problems` says what and where, if a file says it
├── UnknownCaseError   a suite or a run has no case of an id; a KeyError, too
├── RecordError    a run's folder can't be written or read
├── GraderError    raised by a grader that can't give a score; part of the record, too
└── TargetError    raised by a target; it becomes part of the record, never a crash

Anything else that escapes is a bug in evalcase.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalcase.types.answer import FailureKind
    from evalcase.types.problem import Problem


class EvalcaseError(Exception):
    """The base of all errors raised by evalcase."""


class UnknownCaseError(EvalcaseError, KeyError):
    """There is no case of that id."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would quote it


def make_printable(text: str) -> str:
    """Text for a log or a traceback, with nothing in it that a terminal would obey."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


class SuiteError(EvalcaseError):
    """A suite is not valid. `problems` has every problem found, warnings included."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems)
        self.problems: tuple[Problem, ...] = tuple(problems)

    def __str__(self) -> str:
        return _list_errors(self.problems)


def _list_errors(problems: Sequence[Problem]) -> str:
    errors = [problem for problem in problems if problem.severity == "error"]
    lines = [f"{len(errors)} {'error' if len(errors) == 1 else 'errors'}"]
    for problem in errors:
        lines.append(f"  {problem}")
        if problem.hint:
            lines.append(f"    hint: {make_printable(problem.hint)}")
    return "\n".join(lines)


class ConfigError(EvalcaseError):
    """The configuration, or what the command line asks for, can't be used.

    Where a file says something wrong, `problems` has all of it with its places.
    """

    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> ConfigError:
        error = cls(_list_errors(problems))
        error.problems = tuple(problems)
        return error


class RecordError(EvalcaseError):
    """A run's folder can't be written or read."""


class GraderError(EvalcaseError):
    """A grader can't say how good an answer is. What happened goes into the record of the trial."""

    def __init__(
        self, kind: FailureKind, message: str, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.details = details or {}


class TargetError(EvalcaseError):
    """A target could not answer. What happened goes into the record of the trial."""

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = "exception",
        details: dict[str, Any] | None = None,
        may_succeed_later: bool = False,
        retry_after_s: float | None = None,
        overloaded: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.details = details or {}
        self.may_succeed_later = may_succeed_later
        """Whether the engine should try again: connection errors, 408, 429, 5xx, 529."""
        # Whoever raises it may have taken it from a header as it stood.
        number = retry_after_s if isinstance(retry_after_s, int | float) else -1
        self.retry_after_s = retry_after_s if 0 <= number < inf else None
        self.overloaded = overloaded
        """Whether the target has too much to do (429, 529): the engine asks it less at once."""
