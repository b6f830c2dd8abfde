"""One version of a text, checked: its problems, its cases as far as they are valid, and the places
of all of them, which are looked up when somebody asks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from evalcase.editor.files import FileRole
from evalcase.model.case import Case
from evalcase.model.problem import Problem, Span
from evalcase.plugins.known import InProject
from evalcase.read.document import Document
from evalcase.read.lines import split_lines
from evalcase.read.places import Branch, Node, find_node
from evalcase.read.source import UnreadableError, encode_text
from evalcase.resolve.fields import CASE_CONTAINERS
from evalcase.suites.check import check_config_text
from evalcase.suites.load import load_text
from evalcase.suites.stream import read_sidecar_text


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
    document = Document(
        reading.path, reading.text.removeprefix("\ufeff"), reading.role.format, None, []
    )
    count = max(len(reading.cases), 1)
    wanted = [
        ((*base, *more), "value")
        for number in range(count)
        for base in [(number,), *((name, number) for name in CASE_CONTAINERS)]
        for more in ((), ("id",))
    ]
    wanted += [(("id",), "value")]
    root = document.places(wanted)  # type: ignore[arg-type]
    nodes = _case_nodes(root) if reading.cases else []
    return [_make_place(number, node, span) for number, (span, node) in enumerate(nodes)]


def _case_nodes(root: Node) -> list[tuple[Span, Node]]:
    if not isinstance(root, Branch):
        return []
    for name in CASE_CONTAINERS:
        held = root.children.get(name)
        if held is not None:
            return _case_nodes_of(held[1])
    return _case_nodes_of(root) if 0 in root.children else [(root.span, root)]


def _case_nodes_of(node: Node) -> list[tuple[Span, Node]]:
    if not isinstance(node, Branch):
        return []
    return [each for step, each in node.children.items() if isinstance(step, int)]


def _make_place(number: int, node: Node, span: Span) -> CasePlace:
    named = isinstance(node, Branch) and "id" in node.children
    return CasePlace(number, span, find_node(node, ("id",), "value").span if named else span)


def read_version(text: str, path: str, role: FileRole, known: InProject) -> Reading:
    """Check a text as if it stood at its path. It never raises for what a text may hold."""
    if role.kind == "config":
        return Reading(text, path, role, check_config_text(text, path))
    if role.kind == "sidecar":
        try:
            data = encode_text(text, path)
        except UnreadableError as error:
            return Reading(text, path, role, [error.problem])
        sidecar = read_sidecar_text(data, path, os.path.basename(path), known)
        return Reading(text, path, role, sidecar.problems)
    assert role.format != "toml"
    loaded = load_text(text, role.format, path, known)
    return Reading(text, path, role, loaded.problems, loaded.read)
