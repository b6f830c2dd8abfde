"""One version of a text, checked: its problems, its cases as far as they are valid, and the places
of all of them, which are looked up when somebody asks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from evalcase.config.catalogue import Catalogue, check_config_text
from evalcase.editor.files import FileRole
from evalcase.format.document import Document
from evalcase.format.fields import CASE_CONTAINERS
from evalcase.format.load import load_text, read_sidecar
from evalcase.format.positions import split_lines
from evalcase.format.source import UnreadableError, encode_text
from evalcase.types.case import Case
from evalcase.types.problem import Problem, Span


class CasePlace(NamedTuple):
    """Where a case stands, and its id: that of the file, else the one that was made for it."""

    number: int
    span: Span
    name_span: Span
    """Of its id, else of the whole case."""


class Reading:
    """A text as it was at one moment."""

    def __init__(
        self, text: str, path: str, role: FileRole, problems: list[Problem],
        cases: Sequence[Case | None] = (),
    ) -> None:  # fmt: skip
        self.text = text
        self.path = path
        self.role = role
        self.problems = problems
        self.cases = cases

    @property
    def is_readable(self) -> bool:
        """Whether the text could be read as such, whatever is wrong with what it says."""
        return not any(each.code in _UNREADABLE and each.span for each in self.own_problems)

    @property
    def own_problems(self) -> list[Problem]:
        """Those of the text itself, and not of files that it names."""
        return [each for each in self.problems if each.path == self.path]

    @cached_property
    def lines(self) -> list[str]:
        if self.role.format == "jsonl":
            return self.text.split("\n")
        return split_lines(self.text)

    @cached_property
    def places(self) -> list[CasePlace]:
        """The cases in their order; none where the text can't be read, or isn't made of cases."""
        if not self.is_readable or self.role.kind != "suite":
            return []
        if self.role.format == "jsonl":
            return [
                CasePlace(number, span, span)
                for number, text in enumerate(self.lines)
                if text.strip()
                for span in [Span(number + 1, 1, number + 1, len(text) + 1)]
            ]
        return _find_places(self)


_UNREADABLE = frozenset({"syntax", "bad-encoding", "too-deep", "too-large"})


def _find_places(reading: Reading) -> list[CasePlace]:
    assert reading.role.format != "toml"
    if not reading.cases:
        return []
    text = reading.text.removeprefix("\ufeff")
    positions = Document(reading.path, text, reading.role.format, None).positions
    places = []
    for number, path in enumerate(positions.item_paths(CASE_CONTAINERS)):
        span, name = positions.span(path), positions.find((*path, "id"))
        is_elsewhere = name.through is not None  # behind an alias, or in a mapping that is merged
        places.append(CasePlace(number, span, span if is_elsewhere else name.span))
    return places


def read_version(text: str, path: str, role: FileRole, known: Catalogue) -> Reading:
    """Check a text as if it stood at its path. It never raises for what a text may hold."""
    if role.kind == "config":
        return Reading(text, path, role, check_config_text(text, path))
    if role.kind == "sidecar":
        try:
            data = encode_text(text, path)
        except UnreadableError as error:
            return Reading(text, path, role, [error.problem])
        sidecar = read_sidecar(data, path, os.path.basename(path), known)
        return Reading(text, path, role, sidecar.problems)
    assert role.format != "toml"
    loaded = load_text(text, role.format, known, path)
    return Reading(text, path, role, loaded.problems, loaded.read)
