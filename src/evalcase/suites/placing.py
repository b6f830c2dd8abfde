"""Where a case of a suite stands in its file: looked up when somebody asks."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import Finding, KeyPath
from evalcase.model.problem import Problem, Span
from evalcase.read.discover import format_of
from evalcase.read.document import Document, parse_document
from evalcase.read.jsonl import document_of, read_lines
from evalcase.read.source import UnreadableError, open_bytes, read_source
from evalcase.resolve.fields import CASE_CONTAINERS


def place_case(path: str, number: int) -> Span | None:
    """The place of a case, counted from 0; None if the file is gone, or is another by now."""
    try:
        format = format_of(path)
        if isinstance(format, Problem):
            return None
        if format == "jsonl":
            return _place_line(path, number)
        document = parse_document(read_source(path), format, path)
    except (UnreadableError, OSError):
        return None
    where = _find_case(document.value, number) if document.readable else None
    return None if where is None else _span(document, where)


def _place_line(path: str, number: int) -> Span | None:
    with open_bytes(path) as file:
        for at, line in enumerate(read_lines(file, path)):
            if at == number:
                return None if isinstance(line, Problem) else _span(document_of(line, path), ())
    return None


def _find_case(value: Any, number: int) -> KeyPath | None:  # noqa: ANN401 - whatever the file holds
    if isinstance(value, list):
        return (number,) if number < len(value) else None
    if not isinstance(value, dict):
        return None
    for name in CASE_CONTAINERS:
        cases = value.get(name)
        if isinstance(cases, list):
            return (name, number) if number < len(cases) else None
    return () if number == 0 else None


def _span(document: Document, where: KeyPath) -> Span | None:
    (problem,) = document.place([Finding("no-cases", where, "")])
    return problem.span
