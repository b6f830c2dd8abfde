"""The place of a case by its id, found in its file; no more than one case of JSONL is held."""

from __future__ import annotations

from collections.abc import Iterable

from evalcase.model.case import Case
from evalcase.model.problem import Problem, Span
from evalcase.read.discover import format_of
from evalcase.suites.load import load_file
from evalcase.suites.placing import place_case
from evalcase.suites.stream import stream_cases


def find_case_span(suite: str, id: str) -> Span | None:
    """Where a case of a valid suite stands; None if the suite is no file, or hasn't got it."""
    format = format_of(suite)
    if isinstance(format, Problem):
        return None
    for number, case in enumerate(_cases_of(suite, is_stream=format == "jsonl")):
        if case.id == id:
            return place_case(suite, number)
    return None


def _cases_of(suite: str, is_stream: bool) -> Iterable[Case]:
    if is_stream:
        return (item for item in stream_cases(suite) if isinstance(item, Case))
    loaded = load_file(suite).suite
    return loaded.cases if loaded is not None else ()
