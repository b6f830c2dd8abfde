"""Answers to what an editor asks about a file that is open. Whatever may take long is done beside
the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.editor.complete import Completion, Names, TagIndex, find_completions, offer_targets
from evalcase.editor.find_cursor import find_cursor
from evalcase.editor.fixes import QuickFix, find_fixes, fix_all
from evalcase.editor.lookup import (
    Definition,
    Explained,
    case_number,
    explain_position,
    locate_definition,
)
from evalcase.editor.open_files import OpenFile, OpenFiles
from evalcase.editor.outline import CaseSymbol, cases_at, list_cases, show_case
from evalcase.editor.reading import CancellableCatalogue, CasePosition, Reading, map_lines
from evalcase.editor.schema import SchemaWalk, walk_of
from evalcase.editor.verdicts import CaseStatus, Verdicts, find_verdicts, stamp_runs
from evalcase.types.case import Case


class Hint(NamedTuple):
    """What is shown behind a column of a line, both counted from 0."""

    line: int
    column: int
    status: CaseStatus


class Answers:
    """Of one session."""

    def __init__(self, files: OpenFiles) -> None:
        self._files = files
        self._tags = TagIndex()
        self._verdicts: dict[str, tuple[tuple[object, ...], Verdicts | None]] = {}

    def _config(self, file: OpenFile) -> Config:
        return self._files.config_of(os.path.dirname(file.path))

    def _walk(self, file: OpenFile) -> SchemaWalk:
        assert file.role is not None
        return walk_of(file.role.kind, is_line=file.role.format == "jsonl")

    async def complete(self, file: OpenFile, line: int, column: int) -> list[Completion]:
        return await asyncio.to_thread(self._complete, file, line, column)

    def _complete(self, file: OpenFile, line: int, column: int) -> list[Completion]:
        if file.role is None:
            return []
        lines, format = file.lines, file.role.format
        path = find_cursor(lines, format, line, column).path
        names = Names()
        if {"target", "targets", "tags"} & {*path[-2:]}:
            config = self._config(file)
            open_cases = [case._data for each in self._files.suites() for case in _cases_of(each)]
            tags = self._tags.find(config.root, open_cases) if "tags" in path[-2:] else []
            names = Names(offer_targets(config), tags)
        return find_completions(lines, format, line, column, self._walk(file), names)

    async def explain(self, file: OpenFile, line: int, column: int) -> tuple[str, Explained] | None:
        """What is said of a place, in Markdown; on the id of a case, with its canonical form."""
        if file.role is None:
            return None
        found = explain_position(file.lines, file.role.format, line, column, self._walk(file))
        if found is None:
            return None
        case = await self._case_of(file, line, found)
        texts = [found.about, show_case(case) if case is not None else ""]
        text = "\n\n".join(each for each in texts if each)
        return (text, found) if text else None

    async def _case_of(self, file: OpenFile, line: int, found: Explained) -> Case | None:
        """The case whose id, or whose input where it has none, is looked at."""
        assert file.role is not None
        format, path = file.role.format, found.path
        number = line if format == "jsonl" else case_number(path, format)
        depth = 1 if format == "jsonl" else 2 if path and isinstance(path[0], int) else 3
        if number is None or len(path) != depth or path[-1] not in ("id", "input"):
            return None
        reading = await self._good(file)
        if reading is None:
            return None
        return await asyncio.to_thread(self._pick, file, reading, number, path[-1] == "input")

    def _pick(
        self, file: OpenFile, reading: Reading, number: int, only_unnamed: bool
    ) -> Case | None:
        places = [each for each in reading.places if each.number == number]
        if not places or (only_unnamed and places[0].span != places[0].name_span):
            return None
        return cases_at(reading, places, CancellableCatalogue(self._config(file)))[0]

    async def _good(self, file: OpenFile) -> Reading | None:
        """The reading of a text as it is, else of the last that could be read."""
        reading = await file.read(self._files.config_of)
        return reading if reading is not None and reading.is_readable else file.good

    async def define(self, file: OpenFile, line: int, column: int) -> Definition | None:
        if file.role is None:
            return None
        format, config = file.role.format, self._config(file)
        return await asyncio.to_thread(
            locate_definition, file.lines, format, line, column, file.path, config
        )  # fmt: skip

    async def fix(self, file: OpenFile, first: int, last: int, everything: bool) -> list[QuickFix]:
        """Edits for what is wrong between two lines, counted from 0; or for all of it."""
        reading = await file.read(self._files.config_of)
        if reading is None or reading.role.format == "toml":
            return []
        if not everything:
            return await asyncio.to_thread(find_fixes, reading, first + 1, last + 1)
        known = CancellableCatalogue(self._config(file))
        found = await asyncio.to_thread(fix_all, reading, known)
        return [] if found is None else [found]

    async def list_cases(self, file: OpenFile) -> list[CaseSymbol]:
        reading = await self._good(file)
        if reading is None:
            return []
        known = CancellableCatalogue(self._config(file))
        found = await asyncio.to_thread(list_cases, reading, known)
        return (
            found if reading.text is file.text else _carry_symbols(found, reading.lines, file.lines)
        )

    async def hint(self, file: OpenFile, first: int, last: int) -> list[Hint]:
        """What became of the cases between two lines, counted from 0, each in the newest run that
        has it."""
        reading = await self._good(file)
        if reading is None or reading.role.kind != "suite":
            return []
        return await asyncio.to_thread(self._hint, file, reading, first, last)

    def _hint(self, file: OpenFile, reading: Reading, first: int, last: int) -> list[Hint]:
        config = self._config(file)
        verdicts = self._verdicts_of(file, config)
        if verdicts is None:
            return []
        move = map_lines(reading.lines, file.lines)
        near: list[tuple[int, CasePosition]] = []
        for each in reading.places:
            line = move(each.name_span.line - 1)
            if line is not None and first <= line <= last:
                near.append((line, each))
        cases = cases_at(reading, [each for _, each in near], CancellableCatalogue(config))
        found = []
        for (line, place), case in zip(near, cases, strict=True):
            status = verdicts.status_of(case) if case is not None else None
            if status is not None:
                found.append(Hint(line, _end_column(place), status))
        return found

    def _verdicts_of(self, file: OpenFile, config: Config) -> Verdicts | None:
        stamp = stamp_runs(config)
        known = self._verdicts.get(file.path)
        if known is None or known[0] != stamp:
            if known is not None and known[1] is not None:
                known[1].close()
            known = stamp, find_verdicts(os.path.realpath(file.path), config)
            self._verdicts[file.path] = known
        return known[1]


def _end_column(place: CasePosition) -> int:
    span = place.name_span
    return span.end_column - 1 if span.line == span.end_line else span.column - 1


def _cases_of(file: OpenFile) -> list[Case]:
    return [each for each in (file.good.cases if file.good is not None else ()) if each is not None]


def _carry_symbols(
    found: Sequence[CaseSymbol], before: Sequence[str], now: Sequence[str]
) -> list[CaseSymbol]:
    """Cases of an earlier text at their lines of now; those that were changed are left out."""
    move = map_lines(before, now)
    carried = []
    for each in found:
        lines = [move(line - 1) for span in each[2:] for line in (span.line, span.end_line)]
        first, last, top, bottom = lines
        if first is None or last is None or top is None or bottom is None:
            continue
        span = each.span._replace(line=first + 1, end_line=last + 1)
        name = each.name_span._replace(line=top + 1, end_line=bottom + 1)
        carried.append(each._replace(span=span, name_span=name))
    return carried
