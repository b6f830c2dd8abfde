"""A problem: what is wrong with a file, where, and how to mend it."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.errors import make_printable
from evalcase.model.codes import CODES, Severity
from evalcase.model.value import Value


class Span(NamedTuple):
    """A stretch of text: 1-based lines and columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Excerpt(NamedTuple):
    """The source line a span starts on, or a window of it when the line is very long."""

    text: str
    column: int = 1
    """The column of the first character of `text`."""


class Problem(Value, frozen=True):
    """One finding about one place. `code` is stable and has a page in the documentation."""

    code: str
    message: str
    path: str
    span: Span | None = None
    hint: str | None = None
    case: str | None = None
    """The id of the case it is about, where there is one."""
    excerpt: Excerpt | None = None
    stops: bool = False
    """Whether it keeps a run from starting, though it only warns whoever checks a file."""
    fix: str | None = None
    """What would stand in its place if its hint were followed, where that is one exact edit."""

    @property
    def severity(self) -> Severity:
        return "error" if self.stops else CODES[self.code].severity

    @property
    def line(self) -> int | None:
        return self.span.line if self.span else None

    @property
    def column(self) -> int | None:
        return self.span.column if self.span else None

    @property
    def end_line(self) -> int | None:
        return self.span.end_line if self.span else None

    @property
    def end_column(self) -> int | None:
        return self.span.end_column if self.span else None

    @property
    def place(self) -> str:
        """`path:line:column`, as far as it is known."""
        if self.span is None:
            return self.path
        return f"{self.path}:{self.span.line}:{self.span.column}"

    def to_dict(self) -> dict[str, str | int | None]:
        """The JSON object that `evalcase check --format json` prints."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "case": self.case,
        }

    def __str__(self) -> str:
        """One line for logs and tracebacks, with nothing in it that a terminal would obey."""
        return make_printable(f"{self.place}: {self.severity}[{self.code}]: {self.message}")


def in_order(problems: list[Problem]) -> list[Problem]:
    """Sort by place, keeping the order of files in which they were checked."""
    files = {path: number for number, path in enumerate(dict.fromkeys(p.path for p in problems))}
    return sorted(problems, key=lambda p: (files[p.path], p.span or Span(0, 0, 0, 0)))
