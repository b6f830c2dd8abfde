"""What hints say, done where it is one exact edit: every other byte of a file stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalcase.model.problem import Problem, Span
from evalcase.read.discover import format_of, nothing_there, outside_link
from evalcase.read.document import Format
from evalcase.read.edits import Edit, apply_edits
from evalcase.read.lines import Lines
from evalcase.read.source import BOM, UnreadableError, open_bytes
from evalcase.suites.load import load_text
from evalcase.system.files import read_bytes

if TYPE_CHECKING:
    from evalcase.model.known import Known

_MOST_ROUNDS = 20
"""A text that can't be read shows one mistake at a time, so it is read again after each edit."""


class Mended(NamedTuple):
    """One edit that was made: where it was, what stood there, and what does now."""

    span: Span
    old: str
    new: str


class Fixed(NamedTuple):
    """A file before and after."""

    path: str
    before: bytes
    after: bytes
    edits: list[Mended]


def fix_file(path: str, known: Known) -> Fixed:
    """Plan the edits of a file. Nothing is written; a file that can't be read has none."""
    nothing = Fixed(path, b"", b"", [])
    format = nothing_there(path) or format_of(path)
    if isinstance(format, Problem) or outside_link(path) is not None:
        return nothing
    try:
        with open_bytes(path) as file:
            data = read_bytes(file, -1)
        mark = BOM if data.startswith(BOM) else b""
        text = data[len(mark) :].decode()
    except (UnreadableError, UnicodeDecodeError, OSError):
        return nothing
    after, edits = fix_text(text, format, path, known)
    return Fixed(path, data, mark + after.encode(), edits)


def fix_text(text: str, format: Format, path: str, known: Known) -> tuple[str, list[Mended]]:
    """A text that stands, or is to stand, at a path: as it is once all is mended that can be, and
    the edits that were made."""
    edits: list[Mended] = []
    for _ in range(_MOST_ROUNDS):
        after, more = _fix_once(text, format, path, known)
        if not more:
            break
        text = after
        edits += more
    return text, edits


def _fix_once(text: str, format: Format, path: str, known: Known) -> tuple[str, list[Mended]]:
    problems = _find_problems(text, format, path, known)
    planned = _choose_apart([each for each in problems if each.fix is not None])
    if not planned:
        return text, []
    edits = [Edit(each.span, each.fix) for each in planned if each.span and each.fix is not None]
    after = apply_edits(text, edits, format)
    if not _is_better(_find_problems(after, format, path, known), problems):
        return text, []
    lines = Lines(text, only_feeds=format == "jsonl")
    return after, [
        Mended(span, text[lines.offset(*span[:2]) : lines.offset(*span[2:])], new)
        for span, new in edits
    ]


def _find_problems(text: str, format: Format, path: str, known: Known) -> list[Problem]:
    found = load_text(text, format, path, known).problems
    return [problem for problem in found if problem.path == path and problem.span is not None]


def _choose_apart(problems: list[Problem]) -> list[Problem]:
    """Those of some problems, in order, whose places don't overlap."""
    chosen: list[Problem] = []
    end: tuple[int, ...] = (0, 0)
    for problem in problems:
        if problem.span is not None and problem.span[:2] >= end:
            chosen.append(problem)
            end = problem.span[2:]
    return chosen


def _is_better(after: list[Problem], before: list[Problem]) -> bool:
    """Whether there is less to say than before. Behind what can't be read may be anything."""
    if any(each.code == "syntax" for each in before):
        return _list_places(after) != _list_places(before)
    # A case that has become valid may get advice that it was not worth before.
    return _weigh_problems(after) < _weigh_problems(before) and not any(
        each.code == "syntax" for each in after
    )


def _weigh_problems(problems: list[Problem]) -> tuple[int, int]:
    return sum(problem.severity == "error" for problem in problems), len(problems)


def _list_places(problems: list[Problem]) -> list[tuple[str, Span | None]]:
    return [(problem.code, problem.span) for problem in problems]
