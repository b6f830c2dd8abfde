"""`evalcase migrate`: deprecated names renamed in place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from evalcase.cli.terminal import stdin_format, style_for
from evalcase.migrate import Migration, migrate_file, write_atomically
from evalcase.model.problem import Problem
from evalcase.read.discover import discover
from evalcase.read.document import Format
from evalcase.read.source import STDIN
from evalcase.report.diff import unified_diff
from evalcase.report.style import paint
from evalcase.report.text import problem_lines
from evalcase.report.visible import visible


@click.command("migrate")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--diff", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if something would change.")
@stdin_format
def command(paths: tuple[str, ...], diff: bool, check: bool, stdin_format: Format) -> int:
    """Rename deprecated names in place; every other byte stays as it is.

    input_messages becomes input, expected_messages becomes expected_output, evalcases, eval_cases
    and tests become cases, evaluators becomes graders, expected_outcome and outcome become
    criteria, and dataset becomes name. A name that stands beside its new one is left and
    reported, and so is 'execution', which is no plain rename.

    \b
    evalcase migrate evals/ --diff       look first
    evalcase migrate evals/              then do it
    evalcase migrate evals/ --check      in CI: fail while old names are left to rename

    Standard input ('-') is written to standard output. Exit code: 0, 1 with --check if something
    would change, 2 if a file can't be read.
    """
    changed = failed = 0
    for migration in _migrations(paths, stdin_format):
        failed += bool(migration.errors)
        changed += migration.changed
        # Standard output is for the text itself when that is what was asked for.
        talk = sys.stderr if diff or migration.path == STDIN else sys.stdout
        if diff:
            sys.stdout.writelines(_diff_lines(migration))
        elif migration.path == STDIN and not check:
            sys.stdout.buffer.write(migration.after)
        elif migration.changed and not check:
            failed += not _write(migration)
        for line in _report(migration, done=not (diff or check)):
            talk.write(line + "\n")
    return 2 if failed else 1 if check and changed else 0


def _migrations(paths: tuple[str, ...], stdin_format: Format) -> Iterator[Migration]:
    seen: set[str] = set()
    for path in discover(paths):
        if isinstance(path, Problem):
            yield Migration(path.path, b"", b"", [], [], [path])
            continue
        for migration in migrate_file(path, stdin_format):
            if migration.path not in seen:
                seen.add(migration.path)
                yield migration


def _write(migration: Migration) -> bool:
    try:
        write_atomically(migration.path, migration.after)
    except OSError as error:
        problem = Problem("unreadable-file", f"can't be written: {error.strerror}", migration.path)
        migration.errors.append(problem)
        return False
    return True


def _report(migration: Migration, done: bool) -> Iterator[str]:
    style = style_for(sys.stdout)
    path = paint(visible(migration.path), style.place)
    for span, old, new in migration.renames:
        yield f"{path}:{span.line}:{span.column}: {old} → {paint(new, style.good)}"
    count = len(migration.renames)
    names = f"{count} name{'' if count == 1 else 's'}"
    if migration.renames and not migration.errors:
        yield f"{path}: {names} renamed" if done else f"{path}: {names} to rename"
    elif not (migration.left or migration.errors):
        yield f"{path}: nothing to rename"
    for problem in _all(migration.left, migration.errors):
        yield from problem_lines(problem, style=style)


def _all(*groups: Iterable[Problem]) -> Iterator[Problem]:
    for group in groups:
        yield from group


def _diff_lines(migration: Migration) -> Iterator[str]:
    if migration.changed:
        lines = unified_diff(migration.before, migration.after, migration.path)
        terminal = sys.stdout.isatty()
        for line in lines:
            yield (visible(line.rstrip("\r\n")) + "\n") if terminal else line
