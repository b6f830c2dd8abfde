"""Answers to what an editor asks about a file that is open. They may take long, and are found in a
thread beside the event loop."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from lsprotocol import types

from evalcase.config.catalogue import Catalogue
from evalcase.editor.complete import find_completions, find_tags, offer_targets
from evalcase.editor.cursor import Cursor, find_cursor
from evalcase.editor.documents import OpenFile, cases_at
from evalcase.editor.fixes import find_fixes, fix_all
from evalcase.editor.lookup import explain_cursor, locate_definition, show_case
from evalcase.editor.protocol import Converter, Encoding, make_location, make_markdown, to_column
from evalcase.editor.schema import SchemaWalk, walk_of
from evalcase.editor.verdicts import Verdicts, find_verdicts, stamp_runs
from evalcase.format.fields import CASE_CONTAINERS
from evalcase.format.positions import Format
from evalcase.types.case import Case
from evalcase.types.problem import KeyPath
from evalcase.types.value import JSON


class Answers:
    """Of one session. `encoding` says in which units the editor counts columns."""

    def __init__(self, files: dict[str, OpenFile], encoding: Callable[[], Encoding]) -> None:
        self._files = files
        self._encoding = encoding
        self._verdicts: dict[str, tuple[tuple[object, ...], Verdicts | None]] = {}

    def convert(self, file: OpenFile) -> Converter:
        return Converter(file.uri, file.lines, self._encoding())

    def _look(self, file: OpenFile, at: types.Position) -> tuple[Cursor, Format, int] | None:
        """The cursor at a position of a text with cases, its format, and the line."""
        if file.role is None or file.role.format == "toml":
            return None
        format, line = file.role.format, min(at.line, len(file.lines) - 1)
        column = to_column(file.lines[line], at.character, self._encoding())
        return find_cursor(file.lines, format, line, column), format, line

    def complete(
        self, file: OpenFile, params: types.CompletionParams
    ) -> list[types.CompletionItem] | None:
        place = self._look(file, params.position)
        if place is None:
            return None
        cursor, format, line = place
        targets: dict[str, str] = {}
        tags: list[str] = []
        if {"target", "targets", "tags"} & {*cursor.path[-2:]}:
            targets, tags = offer_targets(file.config), find_tags(self._open_cases())
        found = find_completions(cursor, format, file.lines[line], _walk(file), targets, tags)
        convert = self.convert(file)
        return [convert.completion(line, number, each) for number, each in enumerate(found)]

    def _open_cases(self) -> Iterator[JSON]:
        for file in [*self._files.values()]:
            cases = file.reading.cases if file.reading is not None else ()
            yield from (case._data for case in cases if case is not None)

    def explain(self, file: OpenFile, params: types.HoverParams) -> types.Hover | None:
        """What is said of a place; on the id of a case, with its canonical form."""
        place = self._look(file, params.position)
        found = explain_cursor(place[0], _walk(file)) if place is not None else None
        if place is None or found is None:
            return None
        (cursor, format, line), (about, path) = place, found
        case = _case_of(file, format, line, path)
        text = "\n\n".join(filter(None, [about, show_case(case) if case is not None else ""]))
        where = self.convert(file).on_line(line, cursor.token.start, cursor.token.end)
        return types.Hover(make_markdown(text), where) if text else None

    def define(self, file: OpenFile, params: types.DefinitionParams) -> types.Location | None:
        place = self._look(file, params.position)
        found = locate_definition(place[0], file.path, file.config) if place is not None else None
        return None if found is None else make_location(found)

    def fix(self, file: OpenFile, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """Edits for what is wrong between two lines; or for all of it, if that is asked for."""
        reading, only, kind = file.read(), params.context.only, types.CodeActionKind
        if reading is None or reading.role.format == "toml":
            return None
        found = []
        if _is_wanted(only, kind.QuickFix):
            found += find_fixes(reading, params.range.start.line + 1, params.range.end.line + 1)
        if only is not None and _is_wanted(only, kind.SourceFixAll):
            fix = fix_all(reading, Catalogue(file.config))
            found += [fix] if fix is not None else []
        convert = self.convert(file)
        return [convert.action(each, file.version, file.path) for each in found]

    def list_cases(
        self, file: OpenFile, _: types.DocumentSymbolParams
    ) -> list[types.DocumentSymbol] | None:
        reading = file.read()
        if reading is None:
            return None
        convert = self.convert(file)
        cases = cases_at(reading, reading.places, Catalogue(file.config))
        several = zip(reading.places, cases, strict=True)
        return [convert.symbol(place, case) for place, case in several]

    def show_verdicts(
        self, file: OpenFile, params: types.InlayHintParams
    ) -> list[types.InlayHint] | None:
        """What became of the cases between two lines, each in the newest run that has it."""
        reading = file.read()
        if reading is None or reading.role.kind != "suite":
            return None
        verdicts = self._verdicts_of(file)
        if verdicts is None:
            return None
        wanted = range(params.range.start.line + 1, params.range.end.line + 2)
        near = [each for each in reading.places if each.name_span.line in wanted]
        convert, hints = self.convert(file), []
        for place, case in zip(near, cases_at(reading, near, Catalogue(file.config)), strict=True):
            status = verdicts.describe(case) if case is not None else None
            if status is not None:
                span = place.name_span
                column = span.end_column if span.line == span.end_line else span.column
                hints.append(convert.hint(span.line - 1, column - 1, *status))
        return hints

    def _verdicts_of(self, file: OpenFile) -> Verdicts | None:
        config = file.config
        stamp = stamp_runs(config)
        known = self._verdicts.get(file.path)
        if known is None or known[0] != stamp:
            if known is not None and known[1] is not None:
                known[1].close()
            known = stamp, find_verdicts(os.path.realpath(file.path), config)
            self._verdicts[file.path] = known
        return known[1]


def _walk(file: OpenFile) -> SchemaWalk:
    assert file.role is not None
    return walk_of(file.role.kind, is_line=file.role.format == "jsonl")


def _case_of(file: OpenFile, format: Format, line: int, path: KeyPath) -> Case | None:
    """The case whose id, or whose input where it has none, is looked at."""
    if format == "jsonl":
        path = (line, *path)
    elif path[:1] and path[0] in CASE_CONTAINERS:
        path = path[1:]
    reading = file.read()
    if reading is None or len(path) != 2 or path[1] not in ("id", "input"):
        return None
    places = [each for each in reading.places if each.number == path[0]]
    has_id = bool(places) and places[0].span != places[0].name_span
    if not places or (has_id and path[1] == "input"):
        return None
    return cases_at(reading, places, Catalogue(file.config))[0]


def _is_wanted(only: Sequence[object] | None, kind: types.CodeActionKind) -> bool:
    """Whether an editor asks for actions of a kind: it may name any that begins like it."""
    names = [""] if only is None else [str(getattr(each, "value", each)) for each in only]
    return any(f"{kind.value}.".startswith(f"{name}.") or not name for name in names)
