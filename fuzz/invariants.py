"""What holds for every text, however it came about. The fuzz targets and the tests share it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalcase.config.catalogue import Catalogue
from evalcase.format.load import Loaded, load_text
from evalcase.format.migrate import migrate_bytes
from evalcase.format.positions import Format
from evalcase.format.writer import write_yaml
from evalcase.report.json import json_line, json_text
from evalcase.report.problems import problem_lines
from evalcase.types.problem import CODES, Problem, Span
from evalcase.types.value import measure_depth

SEEDS = tuple(
    Path(__file__).parent.parent / "tests" / "corpus" / each for each in ("valid", "invalid")
)
"""Where fuzzing starts from: small documents, one idea each."""

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_DEEP = 90
"""The canonical form may be a few levels deeper than what was written, and so beyond the limit."""


def text_of(data: bytes) -> str:
    """Any bytes as a text, which may have lone surrogates."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def check_text(text: str, format: Format) -> Loaded:
    """Load a text: no exception, every problem in its place, and what is valid reads back."""
    loaded = load_text(text, format, Catalogue())
    lines = split_lines(text.removeprefix("\ufeff"), format)
    for problem in loaded.problems:
        check_problem(problem, lines)
    errors = [problem for problem in loaded.problems if problem.severity == "error"]
    assert bool(errors) == (loaded.suite is None), loaded
    if loaded.suite is not None:
        check_round_trip(loaded)
    return loaded


def split_lines(text: str, format: Format) -> list[str]:
    """The lines as an editor counts them. In JSONL only a line feed ends a line."""
    return text.split("\n") if format == "jsonl" else _LINE_BREAK.split(text)


def check_problem(problem: Problem, lines: list[str]) -> None:
    """A problem has a known code, words, a place inside the text, and can be shown."""
    assert problem.code in CODES
    assert problem.message.strip()
    assert problem.span is not None, problem
    check_span(problem.span, lines)
    shown = "\n".join(problem_lines(problem))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown), shown


def check_span(span: Span, lines: list[str]) -> None:
    assert 1 <= span.line <= span.end_line <= len(lines), (span, lines[-3:])
    assert 1 <= span.column <= len(lines[span.line - 1]) + 1, (span, lines[span.line - 1])
    assert 1 <= span.end_column <= len(lines[span.end_line - 1]) + 1, (span, lines[-3:])
    assert (span.line, span.column) <= (span.end_line, span.end_column), span


def check_round_trip(loaded: Loaded) -> None:
    """The canonical form of a suite is a suite that means the same, in every format."""
    assert loaded.suite is not None
    canonical = loaded.suite.to_dict()
    if measure_depth(canonical, _DEEP) > _DEEP:
        return
    _same(load_text(json_text(canonical), "json", Catalogue()), canonical)
    _same(load_text("".join(write_yaml(canonical)), "yaml", Catalogue()), canonical)
    lines = "".join(json_line(case) + "\n" for case in canonical["cases"])
    again = load_text(lines, "jsonl", Catalogue())
    assert again.suite is not None, again.problems
    assert again.suite.to_dict()["cases"] == canonical["cases"]


def _same(again: Loaded, canonical: dict[str, Any]) -> None:
    assert again.suite is not None, again.problems
    assert again.suite.to_dict() == canonical
    assert json_line(again.suite.to_dict()) == json_line(canonical)


def check_migration(data: bytes, format: Format) -> None:
    """Migrating changes names only, keeps the meaning, and has nothing left to do afterwards."""
    path = f"fuzz.{format}"
    first = migrate_bytes(data, format, path, Catalogue())
    assert first.before == data
    assert (first.before != first.after) == bool(first.changes)
    edits = [edit for rename in first.changes for edit in rename.edits]
    assert all(edit.span.line == edit.span.end_line for edit in edits)
    replaced = sum(edit.span.end_column - edit.span.column for edit in edits)
    grown = sum(len(edit.text) for edit in edits) - replaced
    assert len(first.after.decode(errors="replace")) == len(data.decode(errors="replace")) + grown
    again = migrate_bytes(first.after, format, path, Catalogue())
    assert again.before == again.after
    assert again.changes == []
    if first.errors:
        return
    try:
        texts = [each.decode("utf-8-sig") for each in (data, first.after)]
    except UnicodeDecodeError:  # a line of JSONL without old names is not looked at
        return
    before, after = (load_text(text, format, Catalogue()) for text in texts)
    assert _meaning(before) == _meaning(after)


def _meaning(loaded: Loaded) -> object:
    """The cases, or the kinds of errors that keep a text from having any."""
    if loaded.suite is not None:
        return loaded.suite.to_dict()
    return sorted(p.code for p in loaded.problems if p.severity == "error")
