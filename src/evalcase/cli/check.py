"""`evalcase check`: every problem of every file; `--fix` corrects, `--watch` checks again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TextIO, TypeAlias

import click

from evalcase import __version__
from evalcase.cli.errors import scrub_problems
from evalcase.cli.options import WrongUsageError, stdin_format
from evalcase.cli.terminal import is_live, screen_for
from evalcase.config.catalogue import Catalogue, check_project
from evalcase.config.config import read_config
from evalcase.format.load import Loaded
from evalcase.format.migrate import Fixed, fix_file
from evalcase.format.positions import Format
from evalcase.format.source import STDIN, discover_files, enters_folder
from evalcase.graders.base import Known
from evalcase.report.github import as_github
from evalcase.report.json import format_json
from evalcase.report.problems import Checked, as_text
from evalcase.report.sarif import as_sarif
from evalcase.report.terminal import Screen, seen_from
from evalcase.types.problem import Problem
from evalcase.util.files import write_atomically
from evalcase.util.project import project_root
from evalcase.util.text import list_some, make_visible, write_count


def fix_files(paths: Iterable[str], known: Known, talk: TextIO) -> None:
    """Mend every file that paths stand for, as far as one can."""
    paths = list(paths)
    if STDIN in paths:
        raise WrongUsageError("--fix needs files, not standard input")
    for path in discover_files(paths):
        fixed = fix_file(path, known) if isinstance(path, str) else None
        if fixed is not None and fixed.edits:
            talk.writelines(line + "\n" for line in _write_fixed(fixed, screen_for(talk)))


def _write_fixed(fixed: Fixed, screen: Screen) -> Iterator[str]:
    path = screen.paint(make_visible(fixed.path), "place")
    try:
        write_atomically(fixed.path, fixed.after, before=fixed.before)
    except OSError as error:
        yield f"{path}: can't be written: {error.strerror or error}"
        return
    for span, old, new in fixed.edits:
        now = screen.paint(make_visible(new), "good") or "(nothing)"
        yield f"{path}:{span.line}:{span.column}: {make_visible(old)} → {now}"
    yield f"{path}: {write_count(len(fixed.edits), 'mistake')} fixed"
    yield ""


PAUSE_S = 0.5
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_NAMED = 3

FileStamps: TypeAlias = "dict[str, tuple[int, int, int]]"
"""Time of the last change, size and number of each file, by its path."""


def watch_files(paths: Iterable[str], check: Callable[[], int]) -> int:
    """Check until Ctrl-C; the exit code of the last check that was done."""
    look = partial(stamp_files, folders_of(paths))
    code: int | None = None
    try:
        while True:
            seen = look()  # before the check: a change in the midst of it is not missed
            code = check()
            _write_text("\nwaiting for changes; press Ctrl-C to stop\n")
            while not (changed := changed_files(seen, look())):
                time.sleep(PAUSE_S)
            _write_text(_CLEAR if is_live(sys.stdout) else "\n")
            _write_text(f"{describe_change(changed, os.getcwd())}\n\n")
    except KeyboardInterrupt:
        if code is None:
            raise
        _write_text("\n")
        return code


def folders_of(paths: Iterable[str]) -> list[str]:
    """The folders whose files a check rests on: suites, attachments, code and configuration of the
    project that each path belongs to. None of them lies in another."""
    folders = set()
    for path in paths:
        real = os.path.realpath(path)
        folders.add(project_root(real if os.path.isdir(real) else os.path.dirname(real)))
    return sorted(each for each in folders if not any(map(partial(_is_below, each), folders)))


def _is_below(folder: str, other: str) -> bool:
    return folder != other and folder.startswith(os.path.join(other, ""))


def describe_change(changed: list[str], cwd: str) -> str:
    """Which files have changed, the first of them by name."""
    named = (make_visible(seen_from(cwd, each)) for each in changed[:_NAMED])
    return f"changed: {list_some(named, len(changed))}"


def _write_text(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def stamp_files(folders: Iterable[str]) -> FileStamps:
    """Every file in some folders and below, but for hidden folders and other programs' own."""
    stamps: FileStamps = {}
    left = list(folders)
    seen = set(left)
    while left:
        folder = left.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue  # the check reports a folder that can't be read
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.path not in seen and enters_folder(folder, entry.name):
                    seen.add(entry.path)
                    left.append(entry.path)
                continue
            with suppress(OSError):  # it is gone by now, or a link to nothing
                about = entry.stat()
                stamps[entry.path] = about.st_mtime_ns, about.st_size, about.st_ino
    return stamps


def changed_files(before: FileStamps, now: FileStamps) -> list[str]:
    """The paths that were changed, added or removed, in order."""
    return sorted(path for path in {**before, **now} if before.get(path) != now.get(path))


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
def check_command(
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
        if STDIN in paths:
            raise WrongUsageError("--watch needs files, not standard input")
        if fix:
            raise WrongUsageError("--watch and --fix can't be combined")
        if output != "text":
            raise WrongUsageError(f"--watch only writes text, not {output}")
        return watch_files(paths, lambda: _check_files(paths, output, strict, fix, stdin_format))
    return _check_files(paths, output, strict, fix, stdin_format)


def _check_files(
    paths: tuple[str, ...], output: str, strict: bool, fix: bool, stdin_format: Format
) -> int:
    tally = _Tally()
    catalogue = Catalogue(read_config(os.getcwd(), os.getcwd()))
    if fix:
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
            yield scrub_problems(loaded.problems) if loaded.problems else []


def _print_problems(files: Iterator[list[Problem]], output: str, tally: _Tally) -> None:
    write, problems = sys.stdout.write, chain.from_iterable(files)
    if output == "text":
        screen = screen_for(sys.stdout)
        for line in as_text(files, tally.checked, screen, is_broken=sys.stdout.isatty()):
            write(line + "\n")
        if tally.first_code is not None and sys.stdout.isatty():
            more = f"evalcase explain {tally.first_code} tells more"
            write(screen.paint(more, "dim") + "\n")
    elif output == "github":
        sys.stdout.writelines(line + "\n" for line in as_github(problems))
    elif output == "json":
        write(format_json(problems) + "\n")
    else:
        write(as_sarif(problems, version=__version__) + "\n")
