"""`evalcase show`: what evalcase understood, in the canonical form."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from evalcase.cli.errors import print_problems
from evalcase.cli.options import stdin_format
from evalcase.config.catalogue import Catalogue
from evalcase.format.load import CaseStream, Loaded, load_each
from evalcase.format.positions import Format
from evalcase.format.source import STDIN, format_of
from evalcase.format.writer import write_yaml
from evalcase.report.json import json_line, json_text, yaml_documents
from evalcase.types.case import Case
from evalcase.types.problem import find_nearest
from evalcase.util.text import make_visible


@click.command("show")
@click.argument("paths", nargs=-1, required=True)
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["json", "jsonl", "yaml"]),
    default="json",
    show_default=True,
    help="jsonl prints one case per line.",
)
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
        for loaded in shown.valid(files):
            for case in shown.chosen(loaded):
                sys.stdout.write(json_line(case.to_dict()) + "\n")
        return shown.exit_code()
    values = list(shown.values(files))
    # What is printed depends on what was asked for, and not on how much of it was found.
    one = len(paths) == 1 and not os.path.isdir(paths[0]) and len(ids) < 2
    if not values:
        return shown.exit_code()
    if output == "json":
        sys.stdout.write(json_text(values[0] if one else values) + "\n")
    else:
        # Cases are a list that loads; suites can only stand one after the other.
        together = values[0] if one else values if ids else None
        sys.stdout.writelines(yaml_documents(values) if together is None else write_yaml(together))
    return shown.exit_code()


class _Shown:
    """Picks what is to be shown, and remembers what could not be."""

    def __init__(self, ids: set[str]) -> None:
        self.ids = ids
        self.missing = set(ids)
        self.others: list[str] = []
        self.failed = False

    def valid(self, loaded_files: Iterable[Loaded]) -> Iterator[Loaded]:
        for loaded in loaded_files:
            if loaded.suite is None:
                self.failed = True
                print_problems(each for each in loaded.problems if each.severity == "error")
            else:
                yield loaded

    def chosen(self, loaded: Loaded) -> Iterator[Case]:
        for case in _read_cases(loaded):
            if not self.ids or case.id in self.ids:
                self.missing.discard(case.id)
                yield case
            elif len(self.others) < _MOST_SUGGESTED:
                self.others.append(case.id)

    def values(self, loaded_files: Iterable[Loaded]) -> Iterator[dict[str, Any]]:
        for loaded in self.valid(loaded_files):
            if self.ids:
                yield from (case.to_dict() for case in self.chosen(loaded))
            elif loaded.suite is not None:
                yield loaded.suite.to_dict()

    def exit_code(self) -> int:
        for id in sorted(self.missing):
            close = find_nearest(id, self.others)
            said = f"there is no case '{id}'."
            if self.failed:  # it may well stand there
                said = f"case '{id}' is not shown, because its file has errors."
            hint = f" Did you mean '{close}'?" if close else ""
            sys.stderr.write(f"evalcase show: {make_visible(said + hint)}\n")
        return 2 if self.failed or self.missing else 0


_MOST_SUGGESTED = 1000
"""How many ids are compared with one that isn't there."""


def _read_cases(loaded: Loaded) -> Iterable[Case]:
    """The cases of a valid file, also where they were let go after the check."""
    if loaded.suite is not None and (loaded.suite.cases or format_of(loaded.path) != "jsonl"):
        return loaded.suite
    return (item for item in CaseStream(loaded.path, Catalogue()) if isinstance(item, Case))
