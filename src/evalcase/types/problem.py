"""Problems of files: codes, places, findings, and suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Literal, NamedTuple, TypeAlias

from evalcase.errors import UnknownCaseError, make_printable
from evalcase.types.value import JSON, Value

Severity = Literal["error", "warning", "note"]


class Code(NamedTuple):
    severity: Severity
    title: str


CODES: dict[str, Code] = {
    # Reading a file.
    "unreadable-file": Code("error", "The file can't be read."),
    "unwritable-file": Code("error", "The file can't be written."),
    "unknown-file-type": Code("error", "The file name has an ending that evalcase doesn't read."),
    "no-suites": Code("error", "The folder holds no eval files."),
    "bad-encoding": Code("error", "The file isn't UTF-8 text."),
    "control-character": Code("error", "The text has a raw control character."),
    "syntax": Code("error", "The text isn't valid YAML, JSON or TOML."),
    "too-deep": Code("error", "Values are nested more than 100 levels deep."),
    "too-large": Code("error", "The file or line is larger than evalcase reads."),
    "duplicate-key": Code("error", "A mapping has the same key twice."),
    "bad-key": Code("error", "A mapping has a list or a mapping as a key."),
    "bad-tag": Code("error", "A value has a tag that isn't part of the YAML core schema."),
    "several-documents": Code("error", "A file holds more than one YAML document."),
    "bad-alias": Code(
        "error", "An alias names no anchor before it, or is inside the value it names."
    ),
    "alias-bomb": Code("error", "Aliases expand to far more data than the file holds."),
    "not-json-value": Code("error", "A value can't be written as JSON."),
    # The shape of suites and cases.
    "foreign-file": Code("error", "The file is in the format of another tool."),
    "no-cases": Code("error", "The file holds no eval cases."),
    "unknown-field": Code("error", "A field isn't part of the format."),
    "conflicting-fields": Code("error", "Two fields say the same thing."),
    "missing-input": Code("error", "A case has no `input`."),
    "wrong-type": Code("error", "A value has the wrong type."),
    "bad-value": Code("error", "A value is outside what its field allows."),
    "empty-list": Code("error", "A list must not be empty here."),
    "duplicate-id": Code("error", "Two cases have the same id."),
    # Variables.
    "unknown-variable": Code("error", "A tag names a variable that isn't there."),
    "too-many-cases": Code("error", "A matrix makes more cases than a suite may have."),
    # Messages.
    "unknown-role": Code("error", "A message has a role that isn't known."),
    "empty-message": Code("error", "A message has neither `content` nor `tool_calls`."),
    "bad-tool-call": Code("error", "A tool call doesn't name its tool."),
    "bad-grader": Code("error", "A grader can't be read, or is known and can't be used as it is."),
    # Graders, targets and the configuration.
    "unknown-grader": Code("error", "There is no grader of that name."),
    "unknown-target": Code("error", "There is no target, or no kind of targets, of that name."),
    "bad-target": Code("error", "A target is known, and can't be asked as it is."),
    "unknown-option": Code("error", "An option isn't one of those that there are."),
    "missing-option": Code("error", "An option is missing that can't be left out."),
    "missing-material": Code("error", "A case lacks what one of its graders looks at."),
    "address-in-suite": Code("error", "The target of a suite carries an address."),
    # Files in content.
    "missing-file": Code("error", "A file that is named doesn't exist."),
    "file-outside-project": Code("error", "A file that a suite names lies outside the project."),
    "bad-file": Code("error", "A file that is named is there, and not of a kind that can be used."),
    # What works, but may not be meant.
    "deprecated-name": Code("warning", "A field has a newer name."),
    "ignored-alias": Code("warning", "A deprecated name stands beside its primary and is ignored."),
    "stray-suite-fields": Code("warning", "Suite fields stand in a file that nothing reads."),
    "nothing-to-grade": Code("warning", "A case says nothing about what a good answer is."),
    "missing-module": Code("warning", "No module of that name is found."),
    "missing-program": Code("warning", "No program of that name is found."),
    "undefined-target": Code("warning", "No configuration says what a target is."),
    "no-judge": Code("warning", "Only a judge can grade a case, and none is configured."),
    "same-model": Code("warning", "The judge is the model that it judges."),
    "empty-input": Code("warning", "The `input` of a case is blank text."),
    "lost-spelling": Code("warning", "An expected number is not written as it is read."),
    "cut-text": Code("warning", "A comment ends a text that was probably meant to go on."),
    "duplicate-tag": Code("warning", "A list of tags has the same tag twice."),
    "misplaced-field": Code("warning", "A field of a case stands inside a message."),
    "misnamed-input": Code("warning", "The arguments of an expected call have another name."),
    "odd-part": Code("warning", "Something looks like a content part, and is plain data."),
    "unused-variable": Code("warning", "Nothing makes use of a variable."),
    "not-rendered": Code("warning", "Something looks like a tag, and stays as it is."),
    "no-variables": Code("warning", "A tag stays as it is, for want of variables."),
    "file-as-text": Code("warning", "A text is the address of a file, and nothing reads the file."),
    "not-imported": Code("warning", "Something of another tool's file has no counterpart here."),
    "not-compared": Code("note", "Something that is expected isn't compared."),
}


class Span(NamedTuple):
    """A stretch of text: 1-based lines and columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def moved_by(self, lines: int) -> Span:
        return self._replace(line=self.line + lines, end_line=self.end_line + lines)


class Excerpt(NamedTuple):
    """The source line a span starts on, or a window of a very long line."""

    text: str
    column: int = 1
    """The column of the first character of `text`."""


class Problem(Value, frozen=True):
    """One problem at one place. Its `code` is stable and has a page in the documentation."""

    code: str
    message: str
    path: str
    span: Span | None = None
    hint: str | None = None
    case: str | None = None
    excerpt: Excerpt | None = None
    stops: bool = False
    """Whether a run can't start with it, though `check` only warns."""
    fix: str | None = None
    """The text that replaces the span to follow the hint, where that is one exact edit."""

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
    def place(self) -> str:
        """`path:line:column`, as far as it is known."""
        if self.span is None:
            return self.path
        return f"{self.path}:{self.span.line}:{self.span.column}"

    def to_dict(self) -> dict[str, str | int | None]:
        """The JSON object that `evalcase check --format json` prints."""
        span = dict.fromkeys(Span._fields) if self.span is None else self.span._asdict()
        return {
            "code": self.code, "severity": self.severity, "message": self.message,
            "hint": self.hint, "path": self.path, **span, "case": self.case,
        }  # fmt: skip

    def __str__(self) -> str:
        """One line for logs and tracebacks, safe to print in a terminal."""
        return make_printable(f"{self.place}: {self.severity}[{self.code}]: {self.message}")


def in_order(problems: list[Problem]) -> list[Problem]:
    """Sort by place; files keep the order in which they were checked."""
    files = {path: number for number, path in enumerate(dict.fromkeys(p.path for p in problems))}
    return sorted(problems, key=lambda p: (files[p.path], p.span or Span(0, 0, 0, 0)))


KeyPath: TypeAlias = "tuple[str | int, ...]"
At = Literal["key", "value"]

QUOTE_IT = "quote it"
"""A hint that becomes `write it in quotes: "…"`, with the text as it was written."""


class Fix(NamedTuple):
    """The edit that follows a hint: it replaces the text at the place of the finding."""

    text: str
    """An ellipsis in it stands for the old text."""
    of_name: bool = False
    """Whether it is a name, which keeps its quotes."""


class Finding(NamedTuple):
    """A problem of a value by its path, before its place in a text is known."""

    path: KeyPath
    message: str
    hint: str | None = None
    at: At = "value"
    code: str = "bad-value"
    fix: Fix | None = None
    case: str | None = None
    also: KeyPath | None = None
    within: str | None = None
    example: tuple[str, JSON] | None = None
    """The name of a missing option, and a value that it might have."""
    hides: bool = False
    """Whether the line may hold a secret, and is not shown."""


ALIKE = 0.6
"""How alike two names must be, from 0 to 1, for one to be taken for the other."""


def find_nearest(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """The known name that is most like another; None if none is."""
    close = get_close_matches(name, list(known), 1, alike)
    return close[0] if close else None


def plain_name(name: str) -> str:
    """A name in lower case, with underscores."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def nearest_meaning(name: str, meant: Mapping[str, str], alike: float = ALIKE) -> str | None:
    """The meaning of the name that is most like another, whatever its case and dashes."""
    plain = plain_name(name)
    if plain in meant:
        return meant[plain]
    close = find_nearest(plain, meant, alike)
    return None if close is None else meant[close]


def hint_at(close: str | None) -> str | None:
    return None if close is None else f"did you mean `{close}`?"


def did_you_mean(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """The hint for a misspelt name; None if no known name is near."""
    return hint_at(find_nearest(name, known, alike))


def unknown_case(id: object, whose: str, known: Iterable[str]) -> UnknownCaseError:
    hint = did_you_mean(id, known) if isinstance(id, str) else None
    return UnknownCaseError(f"{whose} has no case {id!r:.80}" + (f": {hint}" if hint else ""))
