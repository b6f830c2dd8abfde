"""`evalcase show`: what evalcase understood, in the canonical form."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from evalcase.cli.errors import print_problems
from evalcase.cli.options import stdin_format
from evalcase.cli.terminal import print_lines, write_prose
from evalcase.config.catalogue import Catalogue
from evalcase.format.load import CaseStream, Loaded, load_each
from evalcase.format.positions import Format
from evalcase.format.source import STDIN, format_of
from evalcase.format.writer import write_yaml
from evalcase.report.json import json_line, json_text, yaml_documents
from evalcase.types.case import Case
from evalcase.types.problem import did_you_mean


@click.command("show")
@click.argument("paths", nargs=-1, required=True)
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--format", "output", type=click.Choice(["json", "jsonl", "yaml"]), default="json",
    show_default=True, help="jsonl prints one case per line.",
)  # fmt: skip
@stdin_format
def show_command(
    paths: tuple[str, ...], ids: tuple[str, ...], output: str, stdin_format: Format
) -> int:
    """Print cases in canonical form: short forms expanded, aliases resolved, ids generated.

    Settings of the suite are written into each case. The output for one file is itself an eval
    file that loads as the same cases. Several files are printed as a list, or as several YAML
    documents.

    \b
    evalcase show math.eval.yaml                    the whole suite, as JSON
    evalcase show math.eval.yaml --case sum         one case
    evalcase show evals/ --format jsonl             all cases, one per line

    Exit code: 0, or 2 if a file has errors or there is no such case.
    """
    shown = _Shown(set(ids))
    as_lines = output == "jsonl"
    # A JSONL file may be larger than memory: it is checked first, and read again to be printed.
    files = load_each(paths, Catalogue(), stdin_format, keep=not as_lines or STDIN in paths)
    if as_lines:
        chosen = (case for loaded in shown.valid(files) for case in shown.chosen(loaded))
        print_lines(json_line(case.to_dict()) for case in chosen)
        return shown.exit_code()
    values: list[Any] = []
    for loaded in shown.valid(files):
        if ids:
            values += [case.to_dict() for case in shown.chosen(loaded)]
        elif loaded.suite is not None:
            values.append(loaded.suite.to_dict())
    # What is printed depends on what was asked for, and not on how much of it was found.
    one = len(paths) == 1 and not os.path.isdir(paths[0]) and len(ids) < 2
    if values and output == "json":
        print_lines([json_text(values[0] if one else values)])
    elif values and (one or ids):
        sys.stdout.writelines(write_yaml(values[0] if one else values))
    else:  # cases are a list that loads; suites can only stand one after the other
        sys.stdout.writelines(yaml_documents(values))
    return shown.exit_code()


class _Shown:
    """Picks what is to be shown, and remembers what could not be."""

    def __init__(self, ids: set[str]) -> None:
        self._ids = ids
        self._missing = set(ids)
        self._others: list[str] = []
        self._failed = False

    def valid(self, loaded_files: Iterable[Loaded]) -> Iterator[Loaded]:
        for loaded in loaded_files:
            if loaded.suite is None:
                self._failed = True
                print_problems(each for each in loaded.problems if each.severity == "error")
            else:
                yield loaded

    def chosen(self, loaded: Loaded) -> Iterator[Case]:
        for case in _read_cases(loaded):
            if not self._ids or case.id in self._ids:
                self._missing.discard(case.id)
                yield case
            elif len(self._others) < _MOST_SUGGESTED:
                self._others.append(case.id)

    def exit_code(self) -> int:
        for id in sorted(self._missing):
            said = f"there is no case `{id}`"
            if self._failed:  # it may well stand there
                said = f"case `{id}` is not shown, because its file has errors"
            hint = did_you_mean(id, self._others)
            write_prose(f"evalcase: {said}{f'; {hint}' if hint else ''}")
        return 2 if self._failed or self._missing else 0


_MOST_SUGGESTED = 1000
"""How many ids are compared with one that isn't there."""


def _read_cases(loaded: Loaded) -> Iterable[Case]:
    """The cases of a valid file, also where they were let go after the check."""
    if loaded.suite is not None and (loaded.suite.cases or format_of(loaded.path) != "jsonl"):
        return loaded.suite
    return (item for item in CaseStream(loaded.path, Catalogue()) if isinstance(item, Case))
