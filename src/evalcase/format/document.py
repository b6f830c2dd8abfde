"""A document: the value of a text and the faults of the text; and findings about the value, which
the document turns into problems with a position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from evalcase.format.json import JsonReader, compose_json, keeps_spelling
from evalcase.format.positions import (
    FatalFaultError,
    Fault,
    Lines,
    Node,
    Positions,
    Syntax,
)
from evalcase.format.source import MAX_LINE_BYTES, number_lines, tell_undecodable
from evalcase.format.toml import compose_toml, read_toml
from evalcase.format.yaml import compose_yaml, read_yaml
from evalcase.graders.base import DeclaredGrader, Known, What
from evalcase.types.options import Check
from evalcase.types.problem import (
    CODES,
    QUOTE_IT,
    At,
    Finding,
    Fix,
    KeyPath,
    Problem,
    Span,
    hint_at,
)
from evalcase.types.read_options import Option, problems_of
from evalcase.types.value import JSON, replace
from evalcase.util.text import abridge_message

if TYPE_CHECKING:
    from evalcase.format.tables import SuiteFiles  # which parses documents

_COMPOSERS: dict[str, Callable[[str], Node]] = {
    "yaml": compose_yaml,
    "json": compose_json,
    "jsonl": compose_json,
    "toml": compose_toml,
}
_LONG = 200
"""The length of a message from which on long names in it are cut."""


class Document(Struct, eq=False, dict=True):
    """A value as it was written, in one of the formats. It is None where it could not be read."""

    path: str
    text: str
    format: Syntax
    value: JSON
    faults: Sequence[Fault] = ()
    readable: bool = True
    first_line: int = 1
    """Its number in the file: a JSONL line is a document of its own."""
    unusual: bool = False
    root: Node | None = None
    """The positions, if they are known."""

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.text, self.format == "jsonl")

    @cached_property
    def positions(self) -> Positions:
        """The positions in a text that could be read, for which it is read again."""
        return Positions(self.lines, self.root or _COMPOSERS[self.format](self.text))

    @property
    def is_sound(self) -> bool:
        """Whether its text has no errors."""
        return all(CODES[fault.code].severity != "error" for fault in self.faults)

    @property
    def problems(self) -> list[Problem]:
        """The faults of the text itself."""
        spans = [self.lines.span(each.start, each.end) for each in self.faults]
        return [
            self._problem(each.code, each.message, span, each.hint, each.fix)
            for each, span in zip(self.faults, spans, strict=True)
        ]

    def place(self, findings: Iterable[Finding]) -> list[Problem]:
        """Turn findings about the value into problems with a position in the text."""
        placed = [(each, self._placed(each)) for each in findings]
        hidden = {each.line for finding, each in placed if finding.hides and each is not None}
        # Another problem in a line with a secret would show the secret as well.
        return [
            replace(each, excerpt=None) if hidden and each.line in hidden else each
            for _, each in placed
            if each is not None
        ]

    def source_of(self, span: Span) -> str:
        """The text of a span, or of its first line."""
        end = span.end_column - 1 if span.end_line == span.line else None
        return self.lines[span.line][span.column - 1 : end]

    def written_name(self, span: Span) -> str:
        """The text of a span without an anchor or a tag before it."""
        source = self.source_of(span)
        return source.rsplit(maxsplit=1)[-1] if source[:1] in ("&", "!") else source

    def _placed(self, finding: Finding) -> Problem | None:
        path, message, hint, at, code, fix, case, also, within, *_ = finding
        span, through = self.positions.find(path, at)
        if within is not None:  # a text in that span, if it is written there in the same way
            places = self.lines.offset(*span[:2]), self.lines.offset(*span[2:])
            start = self.text.find(within, *places)
            span = span if start < 0 else self.lines.span(start, start + len(within))
        if code == "lost-spelling" and keeps_spelling(
            self.written_name(span), self.format != "yaml"
        ):
            return None
        if also is not None:
            message += f"; the first is at {self._words(self.positions.span(also))}"
        if through is not None:
            message += f" (used through the alias at {self._words(through)})"
        if hint == QUOTE_IT:
            hint, written = "write it in quotes", self.written_name(span)
            # A position in TOML may be that of the whole list or table around it.
            if written[:1] not in ("*", "[", "{") and 0 < len(written) < 80:
                hint += f': "{written}"'
        edit = self._fix(fix, span) if fix is not None and through is None else None
        return self._problem(code, message, span, hint, edit, case)

    def _fix(self, fix: Fix, span: Span) -> str | None:
        """The text of a fix; None where the value isn't written plainly."""
        source = self.source_of(span)
        if span.line != span.end_line or not source or source[0] in "&!*|>":
            return None
        if fix.of_name:
            quote = source[0] if source[0] in "'\"" else ""
            return f"{quote}{fix.text}{quote}"
        if "…" in fix.text and any(char in source for char in "\"'\\,[]{}"):
            return None
        return fix.text.replace("…", source)

    def _words(self, span: Span) -> str:
        return f"line {span.line + self.first_line - 1}, column {span.column}"

    def _problem(
        self, code: str, message: str, span: Span, hint: str | None, fix: str | None,
        case: str | None = None,
    ) -> Problem:  # fmt: skip
        excerpt = self.lines.excerpt(span)
        # There may be as many problems as lines, and few are long.
        message = abridge_message(message) if len(message) > _LONG else message
        hint = abridge_message(hint) if hint and len(hint) > _LONG else hint
        span = span.moved_by(self.first_line - 1) if self.first_line > 1 else span
        return Problem(code, message, self.path, span, hint, case, excerpt, fix=fix)


def parse_document(text: str, format: Syntax, path: str) -> Document:
    """Read one document; with `jsonl`, one line. It never raises for what a text may hold."""
    readers = {"yaml": read_yaml, "toml": read_toml}
    read = readers.get(format) or JsonReader().read
    try:
        value, faults, unusual = read(text)
    except FatalFaultError as error:
        return Document(path, text, format, None, [error.fault], False)
    return Document(path, text, format, value, faults, unusual=unusual)


_SEVERAL_LINES = "this is JSON over several lines, and each line of a .jsonl file is one case"
_ONE_A_LINE = "give the file a name that ends in .json, or write each case on a line of its own"


def read_lines(file: IO[bytes], path: str) -> Iterator[Document | Problem]:
    """The lines of a JSONL file in order, each a document, or the problem with a line."""
    read = JsonReader().read
    for number, data in number_lines(file):
        if len(data) > MAX_LINE_BYTES + 1:
            message = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
            yield Problem("too-large", message, path, Span(number, 1, number, 1))
            return
        try:
            text = data.rstrip(b"\r\n").decode()
            value, faults, unusual = read(text)
            yield Document(path, text, "jsonl", value, faults, True, number, unusual)
        except UnicodeDecodeError as error:
            yield tell_undecodable(error, path, number)
        except FatalFaultError as error:
            fault = error.fault
            is_spread = number == 1 and text.strip() in ("[", "{", "[{")
            if is_spread:
                fault = Fault("syntax", _SEVERAL_LINES, 0, len(text), _ONE_A_LINE)
            yield from Document(path, text, "jsonl", None, [fault], False, number).problems
            if is_spread:
                return


# Findings


class FileReference(NamedTuple):
    """A file that a case names."""

    name: str
    path: KeyPath
    case: str | None = None
    from_root: bool = False
    """Whether its name starts from the root of the project, not from the folder of the suite."""
    holds: Check | None = None
    """What the JSON in it has to be."""
    is_folder: bool | None = False
    """None where a file will do, and a folder, too."""


class Findings(Struct, eq=False):
    """Problems that are found while a suite is read, by path; and what the suite mentions."""

    known: Known | None = None
    files: SuiteFiles | None = None
    """The files that the suite may name; without it, none can be read."""
    unusual: bool = False
    """Whether cases are searched for tags and for numbers in odd spellings."""
    found: list[Finding] = []
    errors: int = 0
    references: list[FileReference] = []
    case: str | None = None
    """The id of the case that is being read, as soon as it is known."""
    multiplied: int = 0
    """How many cases matrices have made, beside those that are written."""
    _said: set[str] = set()

    def add(
        self,
        code: str,
        path: KeyPath,
        message: str,
        hint: str | None = None,
        at: At = "value",
        fix: Fix | None = None,
        within: str | None = None,
    ) -> None:
        fix = Fix('"…"') if hint == QUOTE_IT else fix
        self.found.append(Finding(path, message, hint, at, code, fix, self.case, None, within))
        if CODES[code].severity == "error":
            self.errors += 1

    def add_finding(self, found: Finding) -> None:
        self.add(found.code, found.path, found.message, found.hint, found.at, found.fix)

    def add_once(
        self, code: str, path: KeyPath, message: str, hint: str | None, at: At = "value"
    ) -> None:
        """Add a finding that holds for many cases to the first of them."""
        if message not in self._said:
            self._said.add(message)
            self.add(code, path, message, hint, at)

    def add_file(
        self, name: str, path: KeyPath, *, from_root: bool = False, holds: Check | None = None,
        is_folder: bool | None = False,
    ) -> None:  # fmt: skip
        named = FileReference(name, path, self.case, from_root, holds, is_folder)
        self.references.append(named)

    def accepts(
        self, option: Option, value: Any, path: KeyPath, lacking: str = "wrong-type"
    ) -> bool:
        """Whether a value is of a declared type. What is wrong with it is added; `lacking` is the
        code where a part of it is missing."""
        faults = problems_of(option, value, path)
        codes = {"unknown-option": "unknown-field", "missing-option": lacking}
        for fault in faults:
            self.add_finding(fault._replace(code=codes.get(fault.code, fault.code)))
        return not faults

    def suggested(self, name: str, path: KeyPath) -> bool:
        """Whether the last findings below `path` suggest to rename a wrong field to `name`."""
        hint = hint_at(name)
        for finding in reversed(self.found):
            if finding.path[:-1] != path:
                return False
            if finding.hint == hint:
                return True
        return False

    def name_case(self, id: str, found: int, files: int) -> None:
        """Give the id of the case, which is made late, to the findings and files since then."""
        self.case = id
        self.found[found:] = [each._replace(case=id) for each in self.found[found:]]
        self.references[files:] = [each._replace(case=id) for each in self.references[files:]]

    def declared(self, grader: str) -> DeclaredGrader | None:
        """The declaration of a kind of grader; None if it is unknown."""
        return self.known.grader(grader) if self.known is not None else None

    def mention(self, what: What, name: str, path: KeyPath, at: At = "value") -> None:
        """Check something that the suite mentions by its name, such as a target."""
        unfit = self.known.object_to(what, name) if self.known is not None else None
        if unfit is not None:
            self.add_finding(unfit._replace(path=path, at=at))

    def replace_all(self, finding: Finding) -> None:
        """Report one error in place of all findings."""
        self.found, self.references, self.errors = [finding], [], 1

    def drain(self) -> None:
        """Forget what has been reported; `add_once` remembers it."""
        self.found, self.references, self.errors = [], [], 0
