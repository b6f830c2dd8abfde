"""What commands share that read stored runs: where runs are, and what is printed of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from evalcase.cli.options import checked
from evalcase.cli.terminal import write_prose
from evalcase.config.config import Config, read_config
from evalcase.report.source import MAX_SIZE, PARTS
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.util.text import make_visible


def find_project(runs_dir: str | None) -> tuple[Config, str]:
    """The configuration of this project, whatever is wrong with it, and the folder of its runs."""
    config = read_config(os.getcwd(), os.getcwd())
    if config.problems():
        sys.stderr.write("the configuration has errors, which `evalcase check` shows\n")
    return config, config.find_runs(runs_dir)


@contextmanager
def open_run(name: str, runs_dir: str | None) -> Iterator[tuple[StoredRun, Config]]:
    """The run of a name, and the configuration of this project."""
    config, folder = find_project(runs_dir)
    with StoredRun(*find_run(name, folder)) as stored:
        yield stored, config


def tell_written(path: str) -> None:
    """Say which file was written, beside whatever is printed."""
    write_prose(f"wrote {make_visible(path)}")


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
        if word not in PARTS and not (word.startswith("vars.") and word != "vars."):
            known = ", ".join(PARTS)
            raise click.BadParameter(f"{word!r} is not one of {known} and vars.NAME.")
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
