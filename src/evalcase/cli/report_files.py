"""What commands share of stored runs and reports: options, and the files that a run leaves."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

import click

from evalcase.cli.options import checked
from evalcase.cli.terminal import write_prose
from evalcase.config.config import Config, read_config
from evalcase.errors import ConfigError, EvalcaseError
from evalcase.report.formats import form_of, require_form, write_file
from evalcase.report.source import MAX_SIZE, PARTS, RecordPlace, Reported
from evalcase.report.terminal import seen_from
from evalcase.store.folder import Run, note_pending, read_pending
from evalcase.store.stored import StoredRun
from evalcase.types.value import Value
from evalcase.util.text import make_visible


def look_for_runs(folder: str) -> Config:
    """The configuration of the project that a folder belongs to, whatever is wrong with it."""
    config = read_config(folder, folder)
    if config.problems():
        sys.stderr.write("the configuration has errors, which `evalcase check` shows\n")
    return config


class Request(Value, frozen=True):
    """A report that is wanted of a run."""

    form: str
    path: str
    """Absolute: a run may go elsewhere."""


def request_reports(paths: Sequence[str]) -> tuple[Request, ...]:
    """Raise ConfigError for what can't be written, before anything is run, and paid."""
    if not paths:
        return ()
    requests = []
    for path in paths:
        form = form_of(path)
        require_form(form)
        _require_folder(path)
        requests.append(Request(form, os.path.abspath(path)))
    return tuple(requests)


def _require_folder(path: str) -> None:
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path) or not os.path.isdir(folder):
        why = "it is a folder" if os.path.isdir(path) else f"there is no folder {folder}"
        raise ConfigError(f"{path} can't be written: {why}")


def write_reports(
    requests: Sequence[Request], kept: StoredRun, place: RecordPlace, *, quiet: bool = False
) -> int:
    """Write what was asked for; 0, or the exit code for what could not be written, now or before.
    What was run is kept all the same, and can be reported again."""
    owed = set(read_pending(kept.run))
    note_pending(kept.run, owed | {request.form for request in requests})
    left = owed - {request.form for request in requests}
    code = 0
    for request in requests:
        try:
            write_file(request.form, Reported(kept, place), request.path)
            if not quiet:
                tell_written(seen_from(place.cwd, request.path))
        except EvalcaseError as error:
            write_prose(f"evalcase: {error}", sys.stderr)
            left.add(request.form)
            code = 3
    note_pending(kept.run, left)
    return code or tell_owed(kept.run)


def tell_owed(run: Run) -> int:
    """Say which reports an earlier command could not write: 0, or the exit code if there are."""
    owed = read_pending(run)
    if not owed:
        return 0
    # A note may come from anyone, as the run may.
    forms = make_visible(", ".join(sorted(owed)))
    said = f"a report of {run.id} was asked for and could not be written: {forms}"
    write_prose(
        f"{said}; `evalcase resume --report FILE` writes it. The exit code is 3", sys.stderr
    )
    return 3


def tell_written(path: str) -> None:
    """Say which file was written, beside whatever is printed."""
    write_prose(f"wrote {make_visible(path)}", sys.stderr)


def print_pieces(pieces: Iterable[str | bytes]) -> None:
    """Write a report to standard output."""
    for piece in pieces:
        if isinstance(piece, bytes):
            sys.stdout.buffer.write(piece)
        else:
            sys.stdout.write(piece)


def check_parts(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, if each names a kind of parts."""
    for word in words:
        if word not in PARTS and not word.startswith("vars."):
            known = ", ".join(PARTS)
            raise click.BadParameter(f"{word!r} is not one of {known} and vars.NAME.")
        if word == "vars.":
            raise click.BadParameter("vars. is followed by the name of a variable.")
    return words


_UNITS = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}


def _read_size(text: str) -> int:
    """A number of bytes, as people write one: `50MB`, `800 kB`."""
    number = text.rstrip("kKmMgGbB ")
    unit = _UNITS.get(text[len(number) :].strip().lower(), 0)
    try:
        size = round(float(number) * unit)
    except (OverflowError, ValueError):
        size = 0
    if size <= 0:
        raise click.BadParameter(f"`{text}` is not a size; write 50MB, or 800kB")
    return size


max_size_option = click.option(
    "--max-size", metavar="SIZE", default=f"{MAX_SIZE // 1_000_000}MB", show_default=True,
    callback=checked(_read_size),
    help="Size limit of an HTML page: above it, details of passed cases are left out.",
)  # fmt: skip
