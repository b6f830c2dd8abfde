"""Warnings of suites for the log: one line for each kind, however often it comes."""

from __future__ import annotations

from collections.abc import Iterable

from evalcase.model.problem import Problem


class LoggedWarnings:
    """Keeps the first warning of each kind, and counts the others."""

    def __init__(self) -> None:
        self.first: dict[tuple[str, str], Problem] = {}
        self.count: dict[tuple[str, str], int] = {}

    def add(self, problem: Problem) -> None:
        if problem.severity == "warning":
            kind = problem.code, problem.message
            if kind in self.count:
                self.count[kind] += 1
            else:
                self.first[kind], self.count[kind] = problem, 1

    def log(self) -> None:
        """One line for each deprecated name, or other kind of warning, with its first place."""
        if not self.first:
            return
        from logging import getLogger

        for kind, problem in self.first.items():
            more = f" (and {self.count[kind] - 1} more)" if self.count[kind] > 1 else ""
            getLogger("evalcase").warning(
                "%s: %s: %s%s", problem.place, problem.code, problem.message, more
            )


def log_warnings(problems: Iterable[Problem]) -> None:
    """Log the warnings among some problems."""
    warnings = LoggedWarnings()
    for problem in problems:
        warnings.add(problem)
    warnings.log()
