"""`evalcase show`: what evalcase understood, in the canonical form."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from evalcase.cli.terminal import stdin_format, style_for
from evalcase.model.case import Case
from evalcase.model.problem import Problem
from evalcase.model.suite import Suite
from evalcase.pipeline import load_each
from evalcase.read.document import Format
from evalcase.report.canonical import json_line, json_text, yaml_text
from evalcase.report.text import problem_lines
from evalcase.report.visible import visible


@click.command("show")
@click.argument("paths", nargs=-1, required=True)
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["json", "jsonl", "yaml"]),
    default="json",
    show_default=True,
    help="jsonl prints one case a line.",
)
@stdin_format
def command(paths: tuple[str, ...], ids: tuple[str, ...], output: str, stdin_format: Format) -> int:
    """Print cases in their canonical form: short forms spelt out, aliases resolved, ids made.

    What the suite says about all cases is part of each case. What is printed of one file, and
    any jsonl, is an eval file again and loads as the same cases.

    \b
    evalcase show math.eval.yaml                    the whole suite, as JSON
    evalcase show math.eval.yaml --case sum         one case
    evalcase show evals/ --format jsonl             all cases, one a line

    Exit code: 0, or 2 if a file has errors or there is no such case.
    """
    shown = _Shown(set(ids))
    suites = shown.valid(load_each(paths, stdin_format))
    if output == "jsonl":
        for suite in suites:
            for case in shown.chosen(suite):
                sys.stdout.write(json_line(case.to_dict()) + "\n")
    else:
        write = json_text if output == "json" else yaml_text
        values = list(shown.values(suites))
        if values:
            sys.stdout.writelines(write(values[0] if len(values) == 1 else values))
    return shown.exit_code()


class _Shown:
    """Picks what is to be shown, and remembers what could not be."""

    def __init__(self, ids: set[str]) -> None:
        self.ids = ids
        self.missing = set(ids)
        self.seen: list[str] = []
        self.failed = False

    def valid(self, loaded_files: Iterable[Any]) -> Iterator[Suite]:
        for loaded in loaded_files:
            if loaded.suite is None:
                self.failed = True
                self.complain(loaded.problems)
            else:
                yield loaded.suite

    def complain(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if problem.severity == "error":
                for line in problem_lines(problem, style=style_for(sys.stderr)):
                    sys.stderr.write(line + "\n")

    def chosen(self, suite: Suite) -> Iterator[Case]:
        for case in suite:
            if not self.ids or case.id in self.ids:
                self.missing.discard(case.id)
                yield case
            else:
                self.seen.append(case.id)

    def values(self, suites: Iterable[Suite]) -> Iterator[dict[str, Any]]:
        for suite in suites:
            if self.ids:
                yield from (case.to_dict() for case in self.chosen(suite))
            else:
                yield suite.to_dict()

    def exit_code(self) -> int:
        for id in sorted(self.missing):
            from difflib import get_close_matches

            close = get_close_matches(id, self.seen, 1, 0.5)
            hint = f" Did you mean '{visible(close[0])}'?" if close else ""
            sys.stderr.write(f"evalcase show: there is no case '{visible(id)}'.{hint}\n")
        return 2 if self.failed or self.missing else 0
