"""Edits that an editor offers where something is wrong: what a hint says, a deprecated name under
its new one, and all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evalcase.config.catalogue import Catalogue
from evalcase.editor.documents import Reading
from evalcase.format.migrate import OLD_NAME_CODES, fix_text, migrate_bytes
from evalcase.format.positions import Edit, Lines
from evalcase.graders.base import Known
from evalcase.report.diff import count_equal
from evalcase.types.problem import Problem
from evalcase.util.text import make_visible, write_count


class QuickFix(NamedTuple):
    """Edits under a title that says what they do."""

    title: str
    edits: tuple[Edit, ...]
    problem: Problem | None = None
    """The one that is cured; None where it is as many as can be."""


def find_fixes(reading: Reading, first: int, last: int) -> list[QuickFix]:
    """What can be mended between two lines, counted from 1."""
    near = [
        each
        for each in reading.own_problems
        if each.span is not None and each.span.line <= last and each.span.end_line >= first
    ]
    found = [each for problem in near for each in _follow_hint(problem, reading)]
    if any(each.code in OLD_NAME_CODES for each in near):
        found += _offer_renames(reading, near)
    return found


def _follow_hint(problem: Problem, reading: Reading) -> Iterator[QuickFix]:
    if problem.fix is None or problem.span is None:
        return
    span, line = problem.span, reading.lines[problem.span.line - 1]
    old = line[span.column - 1 : span.end_column - 1] if span.end_line == span.line else ""
    title = f"Write {_quote_text(problem.fix)}" + (f" for {_quote_text(old)}" if old else "")
    if not problem.fix:
        title = f"Remove {_quote_text(old)}"
    yield QuickFix(title, (Edit(span, problem.fix),), problem)


def _quote_text(text: str) -> str:
    return f"`{make_visible(text if len(text) < 60 else text[:60] + '…')}`"


def _offer_renames(reading: Reading, near: list[Problem]) -> Iterator[QuickFix]:
    assert reading.role.format != "toml"
    text, format = reading.text.encode(), reading.role.format
    renames = migrate_bytes(text, format, reading.path, Catalogue()).changes
    for problem in near:
        for rename in renames:
            if rename.span == problem.span:
                title = f"Rename {_quote_text(rename.old)} to {_quote_text(rename.new)}"
                yield QuickFix(title, rename.edits, problem)
    if len(renames) > 1:
        edits = tuple(edit for rename in renames for edit in rename.edits)
        yield QuickFix(f"Rename all {len(renames)} deprecated names of this file", edits)


def fix_all(reading: Reading, known: Known) -> QuickFix | None:
    """All that `check --fix` would do, as one edit of what differs."""
    if reading.role.kind != "suite" or not any(each.fix for each in reading.own_problems):
        return None
    assert reading.role.format != "toml"
    before = reading.text
    after, edits = fix_text(before, reading.role.format, reading.path, known)
    if not edits:
        return None
    begin = count_equal(before, after)
    end = count_equal(before[begin:][::-1], after[begin:][::-1])
    lines = Lines(before, only_feeds=reading.role.format == "jsonl")
    edit = Edit(lines.span(begin, len(before) - end), after[begin : len(after) - end])
    return QuickFix(f"Mend {write_count(len(edits), 'mistake')} of this file", (edit,))
