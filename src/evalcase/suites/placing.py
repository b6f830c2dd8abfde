"""Where cases of a suite stand in its file: looked up when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
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
    return place_cases(path, [number])[0]


def place_varied(origins: Sequence[int], path: str, number: int) -> Span | None:
    """The same where one case as it is written makes several: `origins` has the number of that."""
    return place_case(path, origins[number])


def place_cases(path: str, numbers: Sequence[int]) -> list[Span | None]:
    """The places of several cases of a file, which is read once."""
    try:
        format = format_of(path)
        if isinstance(format, Problem):
            return [None] * len(numbers)
        if format == "jsonl":
            return _place_lines(path, numbers)
        document = parse_document(read_source(path), format, path)
    except (UnreadableError, OSError):
        return [None] * len(numbers)
    if not document.readable:
        return [None] * len(numbers)
    return _find_spans(document, [_find_case(document.value, number) for number in numbers])


def _place_lines(path: str, numbers: Sequence[int]) -> list[Span | None]:
    wanted, found = set(numbers), dict[int, "Span | None"]()
    with open_bytes(path) as file:
        for at, line in enumerate(read_lines(file, path)):
            if at in wanted and not isinstance(line, Problem):
                (found[at],) = _find_spans(document_of(line, path), [()])
            if len(found) == len(wanted):
                break
    return [found.get(number) for number in numbers]


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


def _find_spans(document: Document, places: Sequence[KeyPath | None]) -> list[Span | None]:
    known = [where for where in places if where is not None]
    problems = iter(document.place([Finding("no-cases", where, "") for where in known]))
    return [None if where is None else next(problems).span for where in places]
