"""`evalcase check`: every problem of every file; `--fix` corrects, `--watch` checks again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import TextIO

import click

from evalcase import __version__
from evalcase.cli.options import WrongUsageError, stdin_format
from evalcase.cli.terminal import is_live, print_lines, prose_screen, screen_for, scrub_problems
from evalcase.config.catalogue import Catalogue, check_project
from evalcase.config.config import read_config
from evalcase.format.migrate import Rewrite, fix_file
from evalcase.format.positions import Format
from evalcase.format.source import STDIN, discover_files, enters_folder
from evalcase.report.github import as_github
from evalcase.report.problems import Checked, as_sarif, as_text, format_json
from evalcase.report.terminal import Screen, seen_from
from evalcase.types.problem import Problem
from evalcase.util.files import write_atomically
from evalcase.util.project import project_root
from evalcase.util.text import list_some, make_visible, write_count

_PAUSE_S = 0.5
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_NAMED = 3


def _write_fixed(fixed: Rewrite, screen: Screen) -> Iterator[str]:
    path = screen.paint(make_visible(fixed.path), "place")
    try:
        write_atomically(fixed.path, fixed.after, before=fixed.before)
    except OSError as error:
        yield f"{path}: can't be written: {error.strerror or error}"
        return
    for span, old, new, _ in fixed.changes:
        now = screen.paint(make_visible(new), "good") or "(nothing)"
        yield f"{path}:{span.line}:{span.column}: {make_visible(old)} → {now}"
    yield f"{path}: {write_count(len(fixed.changes), 'mistake')} fixed"
    yield ""


def _watch_files(paths: Iterable[str], check: Callable[[], int]) -> int:
    """Check until Ctrl-C; the exit code of the last check that was done. What a check rests on are
    the suites, attachments, code and configuration of the projects."""
    real = [os.path.realpath(each) for each in paths]
    around = [each if os.path.isdir(each) else os.path.dirname(each) for each in real]
    folders = {project_root(each) for each in around}
    code: int | None = None
    try:
        while True:
            seen = _stamp_files(folders)  # before the check: a change in the midst is not missed
            code = check()
            _write_text("\nwaiting for changes; press Ctrl-C to stop\n")
            while (now := _stamp_files(folders)) == seen:
                time.sleep(_PAUSE_S)
            changed = sorted(each for each in {**seen, **now} if seen.get(each) != now.get(each))
            named = (make_visible(seen_from(os.getcwd(), each)) for each in changed[:_NAMED])
            _write_text(_CLEAR if is_live(sys.stdout) else "\n")
            _write_text(f"changed: {list_some(named, len(changed))}\n\n")
    except KeyboardInterrupt:
        if code is None:
            raise
        _write_text("\n")
        return code


def _write_text(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _stamp_files(folders: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    """Time of the last change, size and number of every file in some folders and below, but for
    hidden folders and other programs' own."""
    stamps = {}
    for top in folders:
        for folder, below, names in os.walk(top):
            below[:] = [each for each in below if enters_folder(folder, each)]
            for path in (os.path.join(folder, each) for each in names):
                with suppress(OSError):  # it is gone by now, or a link to nothing
                    about = os.stat(path)
                    stamps[path] = about.st_mtime_ns, about.st_size, about.st_ino
    return stamps


@click.command("check")
@click.argument("paths", nargs=-1)
@click.option(
    "--format", "output", type=click.Choice(["text", "json", "github", "sarif"]), default="text",
    show_default=True,
    help="text for people, json for programs, github for annotations in a workflow, "
    "sarif for code scanning.",
)  # fmt: skip
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
    if (watch or fix) and STDIN in paths:
        raise WrongUsageError(f"{'--watch' if watch else '--fix'} needs files, not standard input")
    if watch and (fix or output != "text"):
        raise WrongUsageError("--watch can't be combined with --fix, and only writes text")

    def check() -> int:
        catalogue = Catalogue(read_config(os.getcwd(), os.getcwd()))
        if fix:
            _fix_files(paths, catalogue, sys.stdout if output == "text" else sys.stderr)
        checked, found = Checked(), dict[tuple[str, str], None]()

        def problems() -> Iterator[list[Problem]]:
            for loaded in check_project(paths, catalogue, stdin_format):
                checked.files += loaded.is_read
                checked.cases += loaded.cases
                found.update(dict.fromkeys((each.code, each.severity) for each in loaded.problems))
                yield scrub_problems(loaded.problems) if loaded.problems else []

        if output == "text":
            screen = prose_screen(sys.stdout)
            print_lines(as_text(problems(), checked, screen))
            for code, _ in [*found][:1] if sys.stdout.isatty() else ():
                print_lines([screen.paint(f"evalcase explain {code} tells more", "dim")])
        else:
            print_lines(_FORMS[output](chain.from_iterable(problems())))
        serious = {"error", "warning"} if strict else {"error"}
        return 2 if any(severity in serious for _, severity in found) else 0

    return _watch_files(paths, check) if watch else check()


_FORMS: dict[str, Callable[[Iterator[Problem]], Iterable[str]]] = {
    "github": as_github,
    "json": lambda problems: [format_json(problems)],
    "sarif": lambda problems: [as_sarif(problems, version=__version__)],
}


def _fix_files(paths: Sequence[str], catalogue: Catalogue, talk: TextIO) -> None:
    screen = screen_for(talk)
    for path in discover_files(paths):
        fixed = fix_file(path, catalogue) if isinstance(path, str) else None
        if fixed is not None and fixed.changes:
            print_lines(_write_fixed(fixed, screen), talk)
