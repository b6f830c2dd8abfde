"""Which deprecated names of a document can be renamed, and the edits that do it."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from evalcase.model.finding import Finding
from evalcase.model.problem import Span
from evalcase.read.document import Document
from evalcase.read.edits import Edit, apply_edits
from evalcase.read.places import Node, find_node
from evalcase.resolve.fields import CASE_ALIASES, EXECUTION, SUITE_ALIASES
from evalcase.suites.grader_renames import OtherName, edits_of, other_name, places_of, value_at

_RENAMED = {**CASE_ALIASES, **SUITE_ALIASES}
OLD_NAME_CODES = ("deprecated-name", "ignored-alias")
"""What is found where one stands."""


class Rename(NamedTuple):
    """A name that stands at a place, and the one that takes its place."""

    span: Span
    old: str
    new: str
    edits: tuple[Edit, ...] = ()


def plan_renames(
    document: Document, findings: list[Finding]
) -> tuple[list[tuple[Rename, Finding]], list[Finding]]:
    """Which names can be renamed, each once, and which are only to be reported."""
    found = [each for each in findings if each.code in OLD_NAME_CODES]
    if not found:
        return [], []
    graders = [_grader_of(document, each) for each in found]
    wanted = [(each.path, each.at) for each in found]
    wanted += [place for each in graders if each is not None for place in places_of(each)]
    root = document.places(wanted)
    renames: dict[Span, tuple[Rename, Finding]] = {}
    left: list[Finding] = []
    for finding, grader in zip(found, graders, strict=True):
        plan = _plan_field if grader is None else partial(_plan_grader, grader)
        planned = plan(finding, document, root)
        if isinstance(planned, Finding):
            left.append(planned)
        else:
            renames[planned.span] = planned, finding
    return list(renames.values()), left


def _grader_of(document: Document, finding: Finding) -> OtherName | None:
    is_field = finding.at == "key" and finding.path[-1] in (*_RENAMED, EXECUTION)
    return None if is_field else other_name(document.value, finding)


def _plan_field(finding: Finding, document: Document, root: Node) -> Rename | Finding:
    """The rename of a field, or the finding with what to do by hand."""
    old = str(finding.path[-1])
    new = _RENAMED.get(old)
    if new is None or finding.code == "ignored-alias":
        return finding
    span = find_node(root, finding.path, "key").span
    source = document.source_of(span)
    if new in value_at(document.value, finding.path[:-1]):
        return finding._replace(hint=f"remove the `{new}` beside it, which is null")
    if not _is_written_plainly(source, old):
        return finding._replace(hint=f"write `{new}` by hand: the key is not plain text")
    before, _, after = source.rpartition(old)
    return Rename(span, old, new, (Edit(span, before + new + after),))


def _plan_grader(
    grader: OtherName, finding: Finding, document: Document, root: Node
) -> Rename | Finding:
    span = find_node(root, finding.path, finding.at).span
    edits = None
    if _is_written_plainly(document.source_of(span), grader.name):
        edits = edits_of(grader, document, root)
    if edits is None:
        return finding._replace(hint=f"write {{type: {grader.new}}} by hand")
    return Rename(span, grader.name, grader.new, edits)


def _is_written_plainly(source: str, name: str) -> bool:
    """Whether a key is its name, in quotes or not, perhaps with an anchor before it."""
    marked = source[:1] in ("&", "!")
    written = source.rsplit(maxsplit=1)[-1] if marked else source
    return written in (name, f'"{name}"', f"'{name}'")


def apply_renames(document: Document, renames: list[Rename]) -> str:
    """The text of a document with other names."""
    edits = [edit for rename in renames for edit in rename.edits]
    return apply_edits(document.text, edits, "yaml")
