"""`evalcase check`: every problem of every file, for people or for machines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain

import click

from evalcase.cli.options import stdin_format
from evalcase.cli.terminal import prose_width, style_for
from evalcase.config.catalogue import check_project, project_catalogue
from evalcase.format.load import Loaded
from evalcase.format.positions import Format
from evalcase.report.terminal.problems import Checked, as_text
from evalcase.report.terminal.style import paint_text
from evalcase.types.problem import Problem


@click.command("check")
@click.argument("paths", nargs=-1)
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, github for annotations in a workflow, "
    "sarif for code scanning.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option(
    "--fix", is_flag=True, help="Apply hints that are one exact edit, and show what is left."
)
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@stdin_format
def command(
    paths: tuple[str, ...], output: str, strict: bool, fix: bool, watch: bool, stdin_format: Format
) -> int:
    """Check eval files and point at every mistake, by line and column.

    PATHS are files (.yaml, .yml, .json, .jsonl), folders to search for *.eval.yaml and the
    like, or '-' for standard input. Without PATHS, the current folder is searched.

    \b
    evalcase check                          everything below this folder
    evalcase check evals/math.eval.yaml     one file
    evalcase check --fix                    fix what a single edit can fix
    evalcase check --watch [PATHS]          again after each change, until Ctrl-C
    evalcase check --format github          in a workflow: comments on the lines
    cat x.jsonl | evalcase check - --stdin-format jsonl

    Exit code: 0, or 2 if there are errors (or, with --strict, warnings); with --watch, that of the
    last check.
    """
    paths = paths or (".",)
    if watch:
        from evalcase.cli.check_watch import refuse_with, watch_files

        refuse_with(paths, output, fix=fix)
        return watch_files(paths, lambda: _check_files(paths, output, strict, fix, stdin_format))
    return _check_files(paths, output, strict, fix, stdin_format)


def _check_files(
    paths: tuple[str, ...], output: str, strict: bool, fix: bool, stdin_format: Format
) -> int:
    tally = _Tally()
    catalogue = project_catalogue(os.getcwd())
    if fix:
        from evalcase.cli.fixing import fix_files

        talk = sys.stdout if output == "text" else sys.stderr
        fix_files(paths, catalogue, talk)
    files = tally.watch(check_project(paths, catalogue, stdin_format))
    _print_problems(files, output, tally)
    return 2 if tally.errors or (strict and tally.warnings) else 0


class _Tally:
    """Counts what passes by, so that problems can be printed while files are still read."""

    def __init__(self) -> None:
        self.checked = Checked()
        self.errors = self.warnings = 0
        self.first_code: str | None = None

    def watch(self, loaded_files: Iterable[Loaded]) -> Iterator[list[Problem]]:
        """The problems of each file, as soon as it is read."""
        for loaded in loaded_files:
            self.checked.files += loaded.is_read
            self.checked.cases += loaded.cases
            for problem in loaded.problems:
                self.first_code = self.first_code or problem.code
                self.errors += problem.severity == "error"
                self.warnings += problem.severity == "warning"
            yield _scrub_shown(loaded.problems)


def _scrub_shown(problems: list[Problem]) -> list[Problem]:
    if not problems:
        return problems
    from evalcase.cli.scrubbed import scrub_problems

    return scrub_problems(problems)


def _print_problems(files: Iterator[list[Problem]], output: str, tally: _Tally) -> None:
    write, problems = sys.stdout.write, chain.from_iterable(files)
    if output == "text":
        style, width = style_for(sys.stdout), prose_width(sys.stdout)
        for line in as_text(files, tally.checked, style=style, width=width):
            write(line + "\n")
        if tally.first_code is not None and sys.stdout.isatty():
            more = f"evalcase explain {tally.first_code} tells more"
            write(paint_text(more, style.gutter) + "\n")
    elif output == "github":
        from evalcase.report.github import as_github

        for line in as_github(problems):
            write(line + "\n")
    elif output == "json":
        from evalcase.report.json import format_json

        write(format_json(problems) + "\n")
    else:
        from evalcase import __version__
        from evalcase.report.sarif import as_sarif

        write(as_sarif(problems, version=__version__) + "\n")
