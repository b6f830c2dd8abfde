"""A file of another tool in, the text of a suite out, with all that could not be mapped.

path →read→ documents →import→ draft →settle→ suite →write→ text
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from evalcase.config.catalogue import Catalogue
from evalcase.format.writer import shorten, suite_lines
from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.guess import guess_format
from evalcase.importing.names import IMPORTERS
from evalcase.importing.settle import settle_draft
from evalcase.importing.source import FileShape, UnusableError, read_file_of_another
from evalcase.importing.toml import write_targets
from evalcase.types.problem import Problem


class Imported(NamedTuple):
    """What came of a file: the text of a suite, and what is to be told of it."""

    name: str
    """The name of the format, as it was given or guessed."""
    text: str
    cases: int
    problems: list[Problem]
    """What could not be mapped."""
    targets: str
    """TOML for the configuration; empty where the file names no targets."""
    ungraded: tuple[str, ...] = ()
    """The ids of cases that have nothing to grade."""


def import_suite(
    path: str, name: str | None, chosen: Chosen, folder: str, shape: FileShape | None = None
) -> Imported:
    """Import a file for a suite that will lie in a folder. Raise UnusableError with all problems
    of a file that can't be read, or in which there is no case."""
    source = read_file_of_another(path, shape)
    if not source.documents:
        raise UnusableError([Problem("no-cases", "the file has no cases", path)])
    name = name or guess_format(source)
    _refuse_choices(chosen, name, path)
    suite = SuiteDraft(path, folder)
    IMPORTERS[name](source, chosen, suite)
    settle_draft(suite)
    problems = suite.problems()
    if not suite.kept:
        nothing = Problem("no-cases", "there is no case in this file that could be imported", path)
        raise UnusableError([nothing, *problems])
    text = "".join(_write_suite(suite, name))
    targets = write_targets(suite.targets, suite.judge)
    cases = sum(map(_count_cases, suite.kept))
    return Imported(name, text, cases, problems, targets, tuple(dict.fromkeys(suite.ungraded)))


def _count_cases(case: CaseDraft) -> int:
    """How many cases one is that is written."""
    matrix = case.fields.get("matrix")
    several = matrix.values() if isinstance(matrix, dict) else ()
    return prod(len(each) for each in several if isinstance(each, list))


def _refuse_choices(chosen: Chosen, name: str, path: str) -> None:
    """What is chosen of columns has no meaning in a file that has none."""
    given = {"--map": chosen.columns, "--rest": chosen.keeps_rest, "--expected": chosen.expected}
    asked = next((option for option, value in given.items() if value), None)
    if asked is not None and not IMPORTERS[name].has_columns:
        message = f"{asked} is about columns, and a file for {IMPORTERS[name].tool} has none"
        raise UnusableError([Problem("unknown-option", message, path, hint="leave it out")])


def _write_suite(suite: SuiteDraft, name: str) -> Iterator[str]:
    base = os.path.basename(suite.source) if suite.source != "-" else "standard input"
    known = Catalogue(needs_graders=True)
    value, comments = shorten(suite.fields, known), suite.comments()
    first = f"Imported from {base} ({IMPORTERS[name].tool})."
    comments[()] = "\n".join([first, *([comments[()]] if () in comments else [])])
    value["cases"] = [shorten(case.fields, known) for case in suite.kept]
    yield from suite_lines(value, comments)
