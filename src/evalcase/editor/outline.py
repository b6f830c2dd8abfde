"""The cases of a file as an editor lists them, and one of them in full."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from evalcase.config.catalogue import Catalogue
from evalcase.editor.reading import CasePosition, Reading
from evalcase.format.load import load_text
from evalcase.format.writer import write_yaml
from evalcase.types.case import Case
from evalcase.types.problem import Span
from evalcase.util.text import make_visible

_LONGEST = 80
_MOST_LINES = 60


class CaseSymbol(NamedTuple):
    """A case, its first words, and where it and its name stand."""

    name: str
    detail: str
    span: Span
    name_span: Span


def list_cases(reading: Reading, known: Catalogue) -> list[CaseSymbol]:
    """Every case of a text in its order."""
    places = reading.places
    cases = cases_at(reading, places, known)
    return [_make_symbol(place, case) for place, case in zip(places, cases, strict=True)]


def cases_at(
    reading: Reading, places: Sequence[CasePosition], known: Catalogue
) -> list[Case | None]:
    """The cases at some places; None for those that are not valid."""
    if reading.role.format != "jsonl":
        whole = len(reading.cases) == len(reading.places)
        return [reading.cases[each.number] if whole else None for each in places]
    # Each line is a case of its own: only the requested lines are read.
    return [_case_of_line(reading, each.number, known) for each in places]


def _case_of_line(reading: Reading, number: int, known: Catalogue) -> Case | None:
    loaded = load_text(reading.lines[number], "jsonl", known, reading.path)
    return loaded.suite.cases[0] if loaded.suite is not None and loaded.suite.cases else None


def _make_symbol(place: CasePosition, case: Case | None) -> CaseSymbol:
    if case is None:
        return CaseSymbol(f"case {place.number + 1}", "not valid", place.span, place.name_span)
    words = case.description or _first_words(case)
    return CaseSymbol(make_visible(case.id), make_visible(words), place.span, place.name_span)


def _first_words(case: Case) -> str:
    for message in reversed(case.input):
        if isinstance(message.get("content"), str):
            words = " ".join(message["content"].split())
            return words if len(words) <= _LONGEST else words[:_LONGEST] + "…"
    return ""


def show_case(case: Case) -> str:
    """The canonical form of a case in Markdown, as `evalcase show` prints it."""
    lines = "".join(write_yaml(case.to_dict())).rstrip("\n").split("\n")
    more = len(lines) - _MOST_LINES
    if more > 0:
        lines = [*lines[:_MOST_LINES], f"# … {more:,} more lines"]
    longest = max(map(len, re.findall("`+", "\n".join(lines))), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}yaml", *map(make_visible, lines), fence])
