"""`evalcase migrate`: deprecated names renamed in place."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from evalcase.cli.options import stdin_format
from evalcase.cli.terminal import print_lines, screen_for
from evalcase.config.catalogue import Catalogue
from evalcase.format.migrate import Migration, migrate_file
from evalcase.format.positions import Format
from evalcase.format.source import STDIN, discover_files
from evalcase.report.diff import diff_style, unified_diff
from evalcase.report.problems import problem_lines
from evalcase.report.terminal import Screen
from evalcase.types.problem import Problem
from evalcase.util.files import write_atomically
from evalcase.util.text import make_visible, write_count


@click.command("migrate")
@click.argument("paths", nargs=-1, required=True)
@click.option("--diff", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if something would change.")
@stdin_format
def migrate_command(paths: tuple[str, ...], diff: bool, check: bool, stdin_format: Format) -> int:
    """Rename deprecated names in place, and change nothing else.

    input_messages becomes input, expected_messages becomes expected_output, evalcases, eval_cases
    and tests become cases, evaluators, assertions and assert become graders, expected_outcome and
    outcome become criteria, and dataset becomes name. Grader names of promptfoo and AgentV become
    those of evalcase, with the options they imply: icontains becomes contains, with ignore_case. If
    the old and the new name are both there, the old one is left and reported. So is 'execution',
    which takes more than a rename.

    \b
    evalcase migrate evals/ --diff    look first
    evalcase migrate evals/           then do it
    evalcase migrate evals/ --check   in CI: fail if old names are left

    Standard input ('-') is written to standard output. Exit code: 0, 1 with --check if something
    would change, 2 if a file can't be read.
    """
    changed = failed = 0
    for migration in _find_migrations(paths, stdin_format):
        changed += migration.changed
        if diff:
            _write_diff(migration)
        elif not check:
            _write_migration(migration)
        failed += bool(migration.errors)
        # Standard output is for the text itself when that is what was asked for.
        talk = sys.stderr if diff or migration.path == STDIN else sys.stdout
        print_lines(
            _report_migration(
                migration, screen_for(talk), is_broken=talk.isatty(), done=not (diff or check)
            ),
            talk,
        )
    return 2 if failed else 1 if check and changed else 0


def _find_migrations(paths: tuple[str, ...], stdin_format: Format) -> Iterator[Migration]:
    seen: set[str] = set()
    for path in discover_files(paths):
        if isinstance(path, Problem):
            yield Migration.of_unreadable(path)
            continue
        for migration in migrate_file(path, Catalogue(), stdin_format):
            if migration.path not in seen:
                seen.add(migration.path)
                yield migration


def _write_migration(migration: Migration) -> None:
    """Write the file anew; a failure to do so becomes one of its errors."""
    if migration.path == STDIN:
        sys.stdout.flush()
        sys.stdout.buffer.write(migration.after)
    elif migration.changed:
        try:
            write_atomically(migration.path, migration.after, before=migration.before)
        except OSError as error:
            message = f"the file can't be written: {error.strerror or error}"
            migration.errors.append(Problem("unwritable-file", message, migration.path))
            migration.renames.clear()


def _write_diff(migration: Migration) -> None:
    if not migration.changed:
        return
    for line in unified_diff(migration.before, migration.after, migration.path):
        if sys.stdout.isatty():
            text = make_visible(line.decode("utf-8", "replace").rstrip("\r\n"))
            sys.stdout.write(screen_for(sys.stdout).paint(text, diff_style(text)) + "\n")
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(line)


def _report_migration(
    migration: Migration, screen: Screen, *, is_broken: bool, done: bool
) -> Iterator[str]:
    path = screen.paint(make_visible(migration.path), "place")
    for span, old, new, _ in migration.renames:
        yield f"{path}:{span.line}:{span.column}: {old} → {screen.paint(new, 'good')}"
    count = len(migration.renames)
    if count:
        yield f"{path}: {write_count(count, 'name')} {'renamed' if done else 'to rename'}"
    elif not (migration.left or migration.errors):
        yield f"{path}: nothing to rename"
    for problem in (*migration.left, *migration.errors):
        yield from problem_lines(problem, screen, is_broken=is_broken)
