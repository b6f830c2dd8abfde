"""`evalcase import`: a suite of another tool's eval file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

import click

from evalcase.cli.errors import scrub_problems
from evalcase.cli.options import checked
from evalcase.cli.terminal import screen_for
from evalcase.format.fields import CASE_FIELDS
from evalcase.format.source import STDIN
from evalcase.importers.convert import IMPORTERS, Imported, import_suite
from evalcase.importers.draft import Choices
from evalcase.importers.source import FileShape, UnusableError
from evalcase.report.problems import fold_problems
from evalcase.types.problem import Problem, find_nearest
from evalcase.util.files import OutsideError, write_atomically
from evalcase.util.project import leaves_by_link
from evalcase.util.text import make_visible, write_count

_NAMED = 5
"""So many cases are named of those that have something in common."""


def _read_columns(given: tuple[str, ...]) -> dict[str, str]:
    """`FIELD=COLUMN` of each --map, by field."""
    columns: dict[str, str] = {}
    for each in given:
        field, is_pair, column = each.partition("=")
        if not (is_pair and field and column):
            raise click.BadParameter(f"'{each}' is not FIELD=COLUMN, such as input=question.")
        if field not in CASE_FIELDS and not field.startswith("metadata."):
            close = find_nearest(field, CASE_FIELDS)
            hint = f" Did you mean '{close}'?" if close else ""
            raise click.BadParameter(f"'{field}' is not a field of a case.{hint}")
        if field in columns:
            raise click.BadParameter(f"'{field}' is filled twice.")
        columns[field] = column
    return columns


@click.command("import")
@click.argument("file")
@click.option(
    "--from", "format", type=click.Choice(list(IMPORTERS)), metavar="NAME",
    help=f"The tool it comes from: {', '.join(IMPORTERS)}. By default, detected from the file.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE",
    help="Where to write the suite; by default, standard output. Never overwrites a file.",
)  # fmt: skip
@click.option(
    "--map", "columns", multiple=True, metavar="FIELD=COLUMN", callback=checked(_read_columns),
    help="Fill a field of cases from a column, or from a path such as item.question. Repeatable.",
)  # fmt: skip
@click.option(
    "--rest", type=click.Choice(["metadata"]),
    help="Where unmapped columns go. By default they are left out, and reported.",
)  # fmt: skip
@click.option(
    "--expected", type=click.Choice(["exact", "criteria"]),
    help="Whether expected texts are compared exactly, or are criteria for a judge.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option(
    "--stdin-format", type=click.Choice(["yaml", "json", "jsonl", "csv"]), default="yaml",
    show_default=True, help="The format of standard input, when FILE is '-'.",
)  # fmt: skip
def command(
    file: str, format: str | None, output: str | None, columns: dict[str, str], rest: str | None,
    expected: str | None, dry_run: bool, stdin_format: FileShape,
) -> int:  # fmt: skip
    """Convert another tool's eval file, or any table, to a suite.

    FILE is a .yaml, .yml, .json, .jsonl, .csv or .tsv file, or '-' for standard input. Nothing in
    it is executed or fetched. What has no counterpart in evalcase is left out: it becomes a comment
    at that place in the suite, and is reported with its line and column.

    \b
    evalcase import promptfooconfig.yaml -o suite.eval.yaml
    evalcase import evals.json -o skill.eval.yaml
    evalcase import goldens.json --from deepeval -o qa.eval.yaml
    evalcase import qa.csv --map input=question --map expected_output=answer
    evalcase import qa.csv --map input=question --rest metadata --dry-run

    Exit code: 0 if everything was imported, 1 if something was left out, 2 if nothing was written.
    """
    to_file = output not in (None, STDIN)
    path = output if output is not None and to_file else STDIN
    if to_file and os.path.lexists(path):
        sys.stderr.write(f"evalcase: {make_visible(path)} already exists; nothing was written\n")
        return 2
    # A printed suite has no folder yet: files are looked up from that of the source.
    folder = os.path.dirname(os.path.abspath(path if to_file else file))
    choices = Choices(columns, keeps_rest=rest is not None, expected=expected)
    try:
        imported = import_suite(
            file, format, choices, folder, stdin_format if file == STDIN else None
        )
    except UnusableError as error:
        _tell_problems(error.problems)
        sys.stderr.write("nothing was written\n")
        return 2
    _tell_problems(imported.problems)
    if not dry_run and not _write_suite(imported.text, path):
        return 2
    _conclude_import(imported, path, dry_run=dry_run)
    return 1 if imported.problems else 0


def _tell_problems(problems: Iterable[Problem]) -> None:
    screen, is_broken = screen_for(sys.stderr), sys.stderr.isatty()
    for lines in fold_problems(scrub_problems(list(problems)), screen, is_broken=is_broken):
        sys.stderr.writelines(line + "\n" for line in (*lines, ""))


def _write_suite(text: str, path: str) -> bool:
    """Write a new file, or to standard output."""
    if path == STDIN:
        sys.stdout.write(text)
        return True
    try:
        if leaves_by_link(path):
            raise OutsideError
        write_atomically(path, text.encode(), replace=False)
    except OSError as error:
        why = error.strerror or error
        sys.stderr.write(f"evalcase: {make_visible(path)} can't be written: {why}\n")
        return False
    return True


def _conclude_import(imported: Imported, path: str, *, dry_run: bool) -> None:
    """Say what was done; where the suite itself goes to standard output, not there."""
    talk = sys.stderr if path == STDIN and not dry_run else sys.stdout
    cases = write_count(imported.cases, "case")
    lost = len(imported.problems)
    done = "would write" if dry_run else "wrote"
    place = "standard output" if path == STDIN else make_visible(path)
    tool = IMPORTERS[imported.name].tool
    left = f", {write_count(lost, 'thing')} not imported" if lost else ""
    talk.write(f"{done} {place}: {cases} of {tool}{left}\n")
    if imported.ungraded:
        talk.write(_tell_ungraded(imported.ungraded))
    if imported.targets:
        talk.write(f"\nfor evalcase.toml:\n\n{imported.targets}")


def _tell_ungraded(ids: Sequence[str]) -> str:
    """That cases can never pass, and which."""
    named = ", ".join(map(make_visible, ids[:_NAMED])) + (", …" if len(ids) > _NAMED else "")
    what = "1 case has" if len(ids) == 1 else f"{len(ids):,} cases have"
    return f"{what} nothing to grade, and can never pass: {named}\n"
