"""A grade in, both sides of what its grader has compared out: texts, tool calls or fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalcase.report.terminal.pairs import LinePair, pair_calls, pair_fields, pair_texts
from evalcase.report.terminal.said import cut_long
from evalcase.report.terminal.side_by_side import MOST_PAIRED_ROWS, compare_lines
from evalcase.report.terminal.style import Style
from evalcase.types.grade import Grade
from evalcase.types.value import JSON
from evalcase.util.text import as_json


def compared_lines(
    grade: Grade, nothing: str, style: Style, width: int, most: int = MOST_PAIRED_ROWS
) -> Iterator[str]:
    """What a grader has compared, side by side; `nothing` stands for an answer without text."""
    sides = _find_sides(grade)
    pairs: list[LinePair] = [*pair_calls(_find_calls(grade)), *pair_fields(_find_fields(grade))]
    if sides is not None:
        pairs += pair_texts(*sides, nothing)
    if pairs:
        yield from compare_lines(pairs, width, style, most)


def compares_content(grade: Grade) -> bool:
    """Whether texts or fields are shown beside each other: then the answer is seen there."""
    return bool(_find_sides(grade) or _find_fields(grade))


def compares_calls(grade: Grade) -> bool:
    return bool(_find_calls(grade))


def _find_sides(grade: Grade) -> tuple[str, str] | None:
    """The two texts that a grader has compared, where it has."""
    expected, got = grade.details.get("expected"), grade.details.get("got")
    return None if expected is None or got is None else (_write_text(expected), _write_text(got))


def _find_calls(grade: Grade) -> list[Mapping[str, JSON]]:
    """The calls that a grader has put side by side, where it has."""
    calls = grade.details.get("calls")
    rows = calls if isinstance(calls, list) else []
    return [row for row in rows if isinstance(row, dict)]


def _find_fields(grade: Grade) -> list[Mapping[str, JSON]]:
    """The fields that a grader has looked at, where it has; all is well with those of a pass."""
    fields = grade.details.get("fields")
    rows = fields if isinstance(fields, list) and not grade.passed else []
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("field"), str)]


def _write_text(value: JSON) -> str:
    return cut_long(value if isinstance(value, str) else as_json(value, indent=2))
