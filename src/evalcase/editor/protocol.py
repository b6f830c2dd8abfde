"""Converts evalcase's values to those of the language server protocol. Lines count from 0, and
columns in units that client and server have agreed on: by default of UTF-16."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from lsprotocol import types
from pygls.uris import from_fs_path

from evalcase.editor.complete import Completion, CompletionKind
from evalcase.editor.documents import CasePosition
from evalcase.editor.fixes import QuickFix
from evalcase.editor.lookup import Definition
from evalcase.report.problems import page_path
from evalcase.types.case import Case
from evalcase.types.problem import Problem, Span
from evalcase.util.text import make_visible, shorten_text

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The units before a column of code points; at most those of the whole line."""
    codec, width = _UNITS[encoding]
    return len(line[:column].encode(codec, "surrogatepass")) // width


def to_column(line: str, units: int, encoding: Encoding) -> int:
    """The column of code points after some units; one in the midst of a character is before it."""
    codec, width = _UNITS[encoding]
    return len(line.encode(codec, "surrogatepass")[: units * width].decode(codec, "ignore"))


_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_KINDS: dict[CompletionKind, types.CompletionItemKind] = {
    "field": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "target": types.CompletionItemKind.Reference,
    "tag": types.CompletionItemKind.Constant,
}
_LONGEST = 80
_START = types.Range(types.Position(0, 0), types.Position(0, 1))


class Converter:
    """Converts for one text."""

    def __init__(self, uri: str, lines: Sequence[str], encoding: Encoding) -> None:
        self._uri = uri
        self._lines = lines
        self._encoding = encoding

    def position(self, line: int, column: int) -> types.Position:
        """Of a line and a column, both counted from 0."""
        if line >= len(self._lines):
            return types.Position(line, 0)
        return types.Position(line, to_units(self._lines[line], column, self._encoding))

    def range(self, span: Span) -> types.Range:
        return types.Range(
            self.position(span.line - 1, span.column - 1),
            self.position(span.end_line - 1, span.end_column - 1),
        )

    def on_line(self, line: int, start: int, end: int) -> types.Range:
        return types.Range(self.position(line, start), self.position(line, end))

    def diagnostic(self, problem: Problem, path: str) -> types.Diagnostic:
        """A problem at its place; one of another file at the top, with a link to where it is."""
        message = problem.message + (f"\n{problem.hint}" if problem.hint else "")
        own = problem.path == path
        found = types.Diagnostic(
            self.range(problem.span) if own and problem.span is not None else _START,
            message if own else f"{problem.place}: {message}",
            severity=_SEVERITIES[problem.severity],
            code=problem.code,
            source="evalcase",
        )
        page = page_path(problem.code)
        if page is not None:
            found.code_description = types.CodeDescription(Path(page).resolve().as_uri())
        if problem.code in ("deprecated-name", "ignored-alias"):
            found.tags = [types.DiagnosticTag.Deprecated]
        if not own:
            span = problem.span
            line, column = (span.line - 1, span.column - 1) if span is not None else (0, 0)
            where = make_location(Definition(problem.path, line, column))
            related = types.DiagnosticRelatedInformation(where, problem.message)
            found.related_information = [related]
        return found

    def completion(self, line: int, number: int, found: Completion) -> types.CompletionItem:
        where = self.on_line(line, found.start, found.end)
        quoted = found.insert.startswith('"')
        return types.CompletionItem(
            found.label,
            kind=_KINDS[found.kind],
            documentation=make_markdown(found.about) if found.about else None,
            sort_text=f"{number:04}",
            filter_text=f'"{found.label}"' if quoted else None,
            text_edit=types.TextEdit(where, found.insert),
        )

    def hint(self, line: int, column: int, label: str, about: str) -> types.InlayHint:
        return types.InlayHint(
            self.position(line, column), label, tooltip=make_markdown(about), padding_left=True
        )

    def action(self, fix: QuickFix, version: int | None, path: str) -> types.CodeAction:
        edits = [types.TextEdit(self.range(span), text) for span, text in fix.edits]
        document = types.OptionalVersionedTextDocumentIdentifier(self._uri, version)
        change = types.TextDocumentEdit(document, list(edits))
        problem = fix.problem
        kind = types.CodeActionKind
        return types.CodeAction(
            fix.title,
            kind=kind.QuickFix if problem is not None else kind.SourceFixAll,
            diagnostics=[self.diagnostic(problem, path)] if problem is not None else None,
            is_preferred=problem is not None,
            edit=types.WorkspaceEdit(document_changes=[change]),
        )

    def symbol(self, place: CasePosition, case: Case | None) -> types.DocumentSymbol:
        """A case by its id, with its description or last words."""
        name, detail = f"case {place.number + 1}", "not valid"
        if case is not None:
            texts = (message.get("content") for message in reversed(case.input))
            text = case.description or next((each for each in texts if isinstance(each, str)), "")
            detail = make_visible(shorten_text(" ".join(text.split()), _LONGEST))
            name = make_visible(case.id) or name
        return types.DocumentSymbol(
            name, types.SymbolKind.Object, self.range(place.span), self.range(place.name_span),
            detail=detail,
        )  # fmt: skip


def make_location(found: Definition) -> types.Location:
    """Columns of files that aren't open count as if all of it was ASCII, as names in code are."""
    at = types.Position(found.line, found.column)
    uri = from_fs_path(found.path) or f"file://{found.path}"
    return types.Location(uri, types.Range(at, at))


def make_markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)
