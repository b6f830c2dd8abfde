"""A document: the value of a text, its faults, and the position of every finding about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import IO, Literal

from evalcase.format.json import JsonReader, compose_json, keeps_spelling
from evalcase.format.positions import (
    NO_DOUBTS,
    Doubts,
    FatalFaultError,
    Fault,
    Format,
    Lines,
    Node,
    Position,
    Positions,
    split_lines,
    want_paths,
)
from evalcase.format.source import (
    MAX_LINE_BYTES,
    UTF_16_MARKS,
    number_lines,
    tell_undecodable,
)
from evalcase.format.yaml import compose_yaml, find_lints, read_yaml
from evalcase.types.problem import (
    QUOTE_IT,
    Excerpt,
    Finding,
    Fix,
    Problem,
    Span,
)
from evalcase.types.value import JSON, replace
from evalcase.util.text import abridge_message

_LONGEST_EXCERPT = 1000
_COMPOSERS: dict[str, Callable[[str], Node]] = {
    "yaml": compose_yaml,
    "json": compose_json,
    "jsonl": compose_json,
}


class Document:
    """A value as it was written, in one of the formats. It is None where it could not be read."""

    def __init__(  # noqa: PLR0913 - all that a reading found
        self,
        path: str,
        text: str,
        format: Format | Literal["csv", "toml"],
        value: JSON,
        faults: Sequence[Fault] = (),
        readable: bool = True,
        first_line: int = 1,
        *,
        doubts: Doubts = NO_DOUBTS,
        compose: Callable[[str], Node] | None = None,
    ) -> None:
        """`first_line` is its number in the file: a JSONL line is a document of its own."""
        self.path = path
        self.text = text
        self.format = format
        self.value = value
        self.faults = faults
        self.readable = readable
        self.first_line = first_line
        self.doubts = doubts
        self._compose = compose
        self._is_placed = False

    @cached_property
    def lines(self) -> list[str]:
        return [self.text] if self.format == "jsonl" else split_lines(self.text)

    @cached_property
    def positions(self) -> Positions:
        """The positions in a text that could be read, for which it is read again."""
        compose = self._compose or _COMPOSERS[self.format]
        return Positions(Lines(self.text, self.format == "jsonl"), compose(self.text))

    @property
    def problems(self) -> list[Problem]:
        """The faults of the text itself."""
        return [self._fault_problem(fault) for fault in self.faults]

    @property
    def lints(self) -> list[Problem]:
        """Warnings about text that can be read, and may be meant otherwise."""
        found = find_lints(self.text) if self.format == "yaml" else ()
        return [self._fault_problem(fault) for fault in found]

    def place(self, findings: Iterable[Finding]) -> list[Problem]:
        """Turn findings about the value into problems with a position in the text."""
        findings = list(findings)
        if not findings:
            return []
        positions = self._positions_of(findings)
        placed = [(each, self._placed(each, positions)) for each in findings]
        hidden = {each.line for finding, each in placed if finding.hides and each is not None}
        # Another problem in a line with a secret would show the secret as well.
        return [
            replace(each, excerpt=None) if hidden and each.line in hidden else each
            for _, each in placed
            if each is not None
        ]

    def source_of(self, span: Span) -> str:
        """The text of a span, or of its first line."""
        line = self.lines[span.line - 1]
        return line[span.column - 1 : span.end_column - 1 if span.end_line == span.line else None]

    def _positions_of(self, findings: list[Finding]) -> Positions:
        """The positions of findings. To find all others, too, takes half as long again."""
        if self.format != "yaml" or self._is_placed:
            return self.positions
        self._is_placed = True
        paths = (path for each in findings for path in (each.path, each.also or ()))
        return Positions(Lines(self.text), compose_yaml(self.text, want_paths(paths)))

    def _placed(self, finding: Finding, positions: Positions) -> Problem | None:
        position = positions.find(finding.path, finding.at)
        if finding.within is not None:
            position = position._replace(span=self._span_within(position.span, finding.within))
        message, hint = finding.message, finding.hint
        if finding.code == "lost-spelling":
            written = self._source_without_anchor(position.span)
            if keeps_spelling(written, self.format != "yaml"):
                return None
        if finding.also is not None:
            message += f"; the first is at {self._words(positions.span(finding.also))}"
        if position.through is not None:
            message += f" (used through the alias at {self._words(position.through)})"
        if hint == QUOTE_IT:
            hint, written = "write it in quotes", self._source_without_anchor(position.span)
            if written[:1] != "*" and 0 < len(written) < 80:
                hint += f': "{written}"'
        fix = self._fix(finding.fix, position) if finding.fix is not None else None
        return self._problem(finding.code, message, position.span, hint, fix, finding.case)

    def _source_without_anchor(self, span: Span) -> str:
        source = self.source_of(span)
        return source.rsplit(maxsplit=1)[-1] if source[:1] in ("&", "!") else source

    def _span_within(self, span: Span, text: str) -> Span:
        """The span of a text in another span; that span, if the text is written otherwise there."""
        for number in range(span.line, min(span.end_line, len(self.lines)) + 1):
            line = self.lines[number - 1]
            start = span.column - 1 if number == span.line else 0
            end = span.end_column - 1 if number == span.end_line else len(line)
            at = line.find(text, start, end)
            if at >= 0:
                return Span(number, at + 1, number, at + 1 + len(text))
        return span

    def _fix(self, fix: Fix, position: Position) -> str | None:
        """The text of a fix; None where the value isn't written plainly."""
        span, source = position.span, self.source_of(position.span)
        is_plain = source and source[0] not in "&!*|>"
        if position.through is not None or span.line != span.end_line or not is_plain:
            return None
        if fix.of_name:
            quote = source[0] if source[0] in "'\"" else ""
            return f"{quote}{fix.text}{quote}"
        if "…" in fix.text and any(char in source for char in "\"'\\,[]{}"):
            return None
        return fix.text.replace("…", source)

    def _words(self, span: Span) -> str:
        return f"line {span.line + self.first_line - 1}, column {span.column}"

    def _fault_problem(self, fault: Fault) -> Problem:
        start, end = self._clip(*fault.span[:2]), self._clip(*fault.span[2:])
        return self._problem(fault.code, fault.message, Span(*start, *end), fault.hint, fault.fix)

    def _clip(self, line: int, column: int) -> tuple[int, int]:
        """A place inside of the text: libyaml may point behind its end."""
        if line > len(self.lines):
            return len(self.lines), len(self.lines[-1]) + 1
        return line, min(column, len(self.lines[line - 1]) + 1)

    def _problem(
        self, code: str, message: str, span: Span, hint: str | None, fix: str | None,
        case: str | None = None,
    ) -> Problem:  # fmt: skip
        excerpt = self._excerpt(span.line, span.column)
        message, hint = abridge_message(message), abridge_message(hint) if hint else hint
        if self.first_line > 1:
            before = self.first_line - 1
            span = span._replace(line=span.line + before, end_line=span.end_line + before)
        return Problem(code, message, self.path, span, hint, case, excerpt, fix=fix)

    def _excerpt(self, line: int, column: int) -> Excerpt:
        text = self.lines[line - 1]
        if len(text) <= _LONGEST_EXCERPT:
            return Excerpt(text)
        start = max(0, column - 1 - _LONGEST_EXCERPT // 4)
        return Excerpt(text[start : start + _LONGEST_EXCERPT], start + 1)


def parse_document(source: str | bytes, format: Format, path: str) -> Document:
    """Read one document; with `jsonl`, one line. It never raises for what a text may hold.

    A source in bytes is UTF-8 without a byte order mark.
    """
    text = source if isinstance(source, str) else source.decode()
    try:
        read = read_yaml if format == "yaml" else JsonReader(format == "jsonl").read
        value, faults, doubts = read(text)
    except FatalFaultError as error:
        return Document(path, text, format, None, [error.fault], readable=False)
    return Document(path, text, format, value, faults, doubts=doubts)


# JSONL


_SEVERAL_LINES = "this is JSON over several lines, and each line of a .jsonl file is one case"
_ONE_A_LINE = "give the file a name that ends in .json, or write each case on a line of its own"


def read_lines(file: IO[bytes], path: str) -> Iterator[Document | Problem]:
    """The lines of a file in order, each a document, or the problem with a line."""
    read = JsonReader(one_line=True).read
    for number, data in number_lines(file):
        if len(data) > MAX_LINE_BYTES + 1:
            message = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
            yield Problem("too-large", message, path, Span(number, 1, number, 1))
            return
        try:
            text = data.decode().rstrip("\r\n")
            value, faults, doubts = read(text)
            yield Document(path, text, "jsonl", value, faults, True, number, doubts=doubts)
        except UnicodeDecodeError:
            yield tell_undecodable(data[:-1], path, number)
            if number == 1 and data[:2] in UTF_16_MARKS:
                return
        except FatalFaultError as error:
            fault = error.fault
            if number == 1 and text.strip() in ("[", "{", "[{"):
                fault = Fault("syntax", _SEVERAL_LINES, Span(1, 1, 1, len(text) + 1), _ONE_A_LINE)
            yield from Document(path, text, "jsonl", None, [fault], False, number).problems
            if fault is not error.fault:
                return
