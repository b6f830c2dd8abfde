"""The place of a case by its id, found in its file; no more than one case of JSONL is held."""

from __future__ import annotations

from contextlib import suppress

from evalcase.model.case import Case
from evalcase.model.problem import Problem, Span
from evalcase.plugins.known import Installed
from evalcase.read.discover import format_of
from evalcase.read.source import UnreadableError, open_bytes
from evalcase.suites.load import load_file
from evalcase.suites.placing import place_case
from evalcase.suites.stream import open_stream


def find_case_span(suite: str, id: str) -> Span | None:
    """Where a case of a valid suite stands; None if the suite is no file, or hasn't got it."""
    format = format_of(suite)
    if isinstance(format, Problem):
        return None
    if format == "jsonl":
        with suppress(UnreadableError, OSError):
            return _find_among_lines(suite, id)
        return None
    loaded = load_file(suite).suite
    return loaded.place(id) if loaded is not None and id in loaded else None


def _find_among_lines(suite: str, id: str) -> Span | None:
    stream = open_stream(suite, open_bytes(suite), Installed(), lambda _: None)
    cases = (item for item in stream if isinstance(item, Case))
    for number, case in enumerate(cases):
        if case.id == id:
            return place_case(suite, number if stream.origins is None else stream.origins[number])
    return None
