"""A document: the value of a text, its faults, and the place of whatever is found in it later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from evalcase.model.finding import (
    LOST_SPELLING,
    NO_DOUBTS,
    QUOTE_IT,
    At,
    Doubts,
    Finding,
    Fix,
    KeyPath,
)
from evalcase.model.json_value import JSON
from evalcase.model.problem import Excerpt, Problem, Span
from evalcase.model.value import replace
from evalcase.read.fault import FatalFaultError, Fault
from evalcase.read.lines import split_lines
from evalcase.read.places import Leaf, Node, Place, find_node, wanted_tree
from evalcase.read.scalars import keeps_spelling
from evalcase.text.abridge import abridge_message

Format = Literal["yaml", "json", "jsonl"]

_LONGEST_EXCERPT = 1000


class Document:
    """A value as it was written, in whichever format. It is None where it could not be read."""

    def __init__(  # noqa: PLR0913 - what a reading found, all of it
        self,
        path: str,
        source: str | bytes,
        format: Format | Literal["csv", "toml"],
        value: JSON,
        faults: Sequence[Fault],
        readable: bool = True,
        first_line: int = 1,
        *,
        doubts: Doubts = NO_DOUBTS,
        key_places: Mapping[KeyPath, Span] = MappingProxyType({}),
    ) -> None:
        self.path = path
        self.source = source
        self.format = format
        self.value = value
        self.faults = faults
        self.readable = readable
        self.doubts = doubts
        self.first_line = first_line
        """The number of its first line in the file: a JSONL line is a document of its own."""
        self.key_places = key_places
        """Where some keys stand, noted as they were read: these need no second reading."""

    @cached_property
    def text(self) -> str:
        """The text as a string: made of its bytes only when something must be pointed at."""
        return self.source if isinstance(self.source, str) else self.source.decode()

    @cached_property
    def lines(self) -> list[str]:
        if self.format == "jsonl":
            return [self.text]
        return split_lines(self.text)

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with the text itself."""
        return [
            replace(self._problem(fault.code, fault.message, fault.span, fault.hint), fix=fault.fix)
            for fault in self.faults
        ]

    @property
    def lints(self) -> list[Problem]:
        """What can be read, and may have been meant otherwise."""
        if self.format != "yaml":
            return []
        from evalcase.read.yaml_misleading import may_mislead

        data = self.source if isinstance(self.source, bytes) else self.source.encode()
        if not may_mislead(data):
            return []
        from evalcase.read.yaml_lints import find_lints  # and libyaml with it

        return [self._problem(*each[:4]) for each in find_lints(data)]

    def place(self, findings: Iterable[Finding]) -> list[Problem]:
        """Turn findings about the value into problems with a place in the text."""
        findings = list(findings)
        if not findings:
            return []
        noted = self.key_places
        sought = [each for each in findings if each.at != "key" or each.path not in noted]
        wanted = [(finding.path, finding.at) for finding in sought]
        wanted += [(finding.also, "value") for finding in findings if finding.also is not None]
        root = self.places(wanted) if wanted else Leaf(Span(1, 1, 1, 1))
        placed = [self._placed(finding, root) for finding in findings]
        hidden = {each.line for each, of in zip(placed, findings, strict=True) if each and of.hides}
        problems = [problem for problem in placed if problem is not None]
        # Whatever else is wrong in a line with a secret would show the secret as well.
        return [replace(each, excerpt=None) if each.line in hidden else each for each in problems]

    def places(self, wanted: Iterable[tuple[KeyPath, At]] | None = None) -> Node:
        """The places of some keys and values, or of everything, in a tree for `find`."""
        tree = None if wanted is None else wanted_tree(wanted)
        if self.format == "yaml":
            from evalcase.read.yaml_places import yaml_places

            return yaml_places(self.source, tree)
        if self.format == "toml":
            from evalcase.read.toml_places import toml_places

            return toml_places(self.text)
        from evalcase.read.json_places import json_places

        return json_places(self.text, tree, one_line=self.format == "jsonl")

    def source_of(self, span: Span) -> str:
        """The text of a span, or of its first line."""
        line = self.lines[span.line - 1]
        return line[span.column - 1 : span.end_column - 1 if span.end_line == span.line else None]

    def _placed(self, finding: Finding, root: Node) -> Problem | None:
        noted = self.key_places.get(finding.path) if finding.at == "key" else None
        place = Place(noted) if noted is not None else find_node(root, finding.path, finding.at)
        if finding.within is not None:
            place = place._replace(span=self._within(place.span, finding.within))
        message, hint = finding.message, finding.hint
        if finding.code == LOST_SPELLING and self._keeps_spelling(place.span):
            return None
        if finding.also is not None:
            message += f"; the first is at {self._words(find_node(root, finding.also, 'value'))}"
        if place.through is not None:
            message += f" (used through the alias at {self._words(Place(place.through))})"
        if hint == QUOTE_IT:
            hint = _hint_at_quotes(self.source_of(place.span))
        problem = self._problem(finding.code, message, place.span, hint, finding.case)
        fix = self._fix(finding.fix, place) if finding.fix is not None else None
        return problem if fix is None else replace(problem, fix=fix)

    def _within(self, span: Span, text: str) -> Span:
        """Where a text stands in a span; the span itself, if it is written otherwise there."""
        for number in range(span.line, min(span.end_line, len(self.lines)) + 1):
            line = self.lines[number - 1]
            start = span.column - 1 if number == span.line else 0
            end = span.end_column - 1 if number == span.end_line else len(line)
            at = line.find(text, start, end)
            if at >= 0:
                return Span(number, at + 1, number, at + 1 + len(text))
        return span

    def _fix(self, fix: Fix, place: Place) -> str | None:
        """What takes the place of what a finding points at; None where it isn't written plainly."""
        span, source = place.span, self.source_of(place.span)
        if place.through is not None or span.line != span.end_line or source[:1] in _MARKS:
            return None
        if fix.of_name:
            quote = source[:1] if source[:1] in ("'", '"') else ""
            return f"{quote}{fix.text}{quote}"
        if "…" in fix.text and any(char in source for char in _NEEDS_CARE):
            return None
        return fix.text.replace("…", source)

    def _keeps_spelling(self, number: Span) -> bool:
        return keeps_spelling(_strip_anchor(self.source_of(number)), as_json=self.format != "yaml")

    def _words(self, place: Place) -> str:
        return f"line {place.span.line + self.first_line - 1}, column {place.span.column}"

    def _problem(
        self, code: str, message: str, span: Span, hint: str | None, case: str | None = None
    ) -> Problem:
        span = self._inside(span)
        excerpt = self._excerpt(span)
        message, hint = abridge_message(message), abridge_message(hint) if hint else hint
        if self.first_line > 1:
            offset = self.first_line - 1
            span = Span(span.line + offset, span.column, span.end_line + offset, span.end_column)
        return Problem(code, message, self.path, span, hint, case, excerpt)

    def _inside(self, span: Span) -> Span:
        """The part of a span that lies in the text: libyaml may point behind it."""
        lines = self.lines
        if span.end_line <= len(lines) and span.end_column <= len(lines[span.end_line - 1]) + 1:
            return span
        last = (len(lines), len(lines[-1]) + 1)
        if span.end_line <= len(lines):
            last = (span.end_line, len(lines[span.end_line - 1]) + 1)
        start = min((span.line, span.column), last)
        return Span(*start, *last)

    def _excerpt(self, span: Span) -> Excerpt:
        line = self.lines[span.line - 1]
        if len(line) <= _LONGEST_EXCERPT:
            return Excerpt(line)
        start = max(0, span.column - 1 - _LONGEST_EXCERPT // 4)
        return Excerpt(line[start : start + _LONGEST_EXCERPT], start + 1)


_MARKS = ("&", "!", "*", "|", ">", "")
_NEEDS_CARE = "\"'\\,[]{}"


def _hint_at_quotes(source: str) -> str:
    """The hint to write a value in quotes, without the anchor or tag that may stand before it."""
    value = _strip_anchor(source)
    if value[:1] == "*" or not 0 < len(value) < 80:
        return "write it in quotes"
    return f'write it in quotes: "{value}"'


def _strip_anchor(source: str) -> str:
    """A value as it is written, without the anchor or tag that may stand before it."""
    return source.rsplit(maxsplit=1)[-1] if source[:1] in ("&", "!") else source


def parse_document(
    source: str | bytes, format: Format, path: str, likely: frozenset[str] = frozenset()
) -> Document:
    """Read one document; with `jsonl`, one line. It never raises for what a text may hold.

    Keys with a name that is `likely` to be pointed at later are found faster then.

    A source in bytes is UTF-8 without a byte order mark. YAML is read from the bytes themselves,
    since a large text takes twice as much memory as a string.
    """
    places: dict[KeyPath, Span] = {}
    try:
        if format == "yaml":
            value, faults, doubts = _parse_yaml(source, likely, places)
        else:
            from evalcase.read.json import JsonReader

            text = source if isinstance(source, str) else source.decode()
            value, faults, doubts = JsonReader(one_line=format == "jsonl").read(text)
    except FatalFaultError as error:
        return Document(path, source, format, None, [error.fault], readable=False)
    return Document(path, source, format, value, faults, doubts=doubts, key_places=places)


def _parse_yaml(
    source: str | bytes, likely: frozenset[str], places: dict[KeyPath, Span]
) -> tuple[JSON, Sequence[Fault], Doubts]:
    from evalcase.read.yaml import parse_yaml  # and libyaml with it

    texts = _doubts_texts(source)

    value, faults, doubts = parse_yaml(source, likely, places)
    return value, faults, doubts._replace(texts=True) if texts else doubts


def _doubts_texts(source: str | bytes) -> bool:
    """Whether a text may look like more than text. One character is found ten times as fast as two,
    and most files have none of it."""
    if isinstance(source, str):
        return "{{" in source or "file:" in source
    return (b"{" in source and b"{{" in source) or (b"/" in source and b"file:" in source)
