"""The lines at which the cases of a valid file begin: of all of them in one go, and without their
columns, which take longer to find."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

from evalcase.model.case import Case
from evalcase.plugins.known import Installed
from evalcase.read.discover import format_of
from evalcase.read.jsonl import number_lines
from evalcase.read.source import open_bytes, read_source
from evalcase.resolve.fields import CASE_CONTAINERS
from evalcase.suites.stream import open_stream

CaseLines = Iterator[tuple[str, int]]
"""The id of each case, and its line."""


def held_lines(
    path: str, cases: Sequence[Case], origins: Sequence[int], wants: Callable[[Case], bool]
) -> CaseLines:
    """The lines of cases that a document was read to; `origins` are the numbers of the cases, as
    they are written, that each comes from."""
    some = [(c.id, number) for c, number in zip(cases, origins, strict=True) if wants(c)]
    if some:
        lines = find_lines(path, [number for _, number in some])
        for (id, _), line in zip(some, lines, strict=True):
            if line is not None:
                yield id, line


def find_lines(path: str, numbers: Sequence[int]) -> list[int | None]:
    """The lines of some cases of a document, by their numbers as they are written, from 0."""
    from evalcase.suites.placing import place_cases

    lines: list[int] | None = None
    if format_of(path) == "yaml":
        from evalcase.read.list_lines import find_list_lines  # and with it PyYAML

        lines = find_list_lines(read_source(path), CASE_CONTAINERS, max(numbers) + 1)
    if lines is not None:
        return [lines[number] if number < len(lines) else None for number in numbers]
    return [None if span is None else span.line for span in place_cases(path, numbers)]


def stream_lines(path: str, wants: Callable[[Case], bool]) -> CaseLines:
    """The lines of cases of a JSONL file; one line may make several cases."""
    with open_bytes(path) as file:
        lines = array("Q", number_lines(file))
    stream = open_stream(path, open_bytes(path), Installed())
    cases = (item for item in stream if isinstance(item, Case))
    for count, case in enumerate(cases):
        number = count if stream.origins is None else stream.origins[count]
        # It may be longer by now: then nobody believes any of these.
        if number < len(lines) and wants(case):
            yield case.id, lines[number]
