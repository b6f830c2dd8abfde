"""What commands share that work on stored runs: where runs are, what is printed of them, and how
far a record that somebody else made is trusted.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import click

from evalcase.cli.options import checked
from evalcase.cli.terminal import print_lines, write_prose
from evalcase.config.config import Config, read_config
from evalcase.config.options import RunOptions
from evalcase.report.source import MAX_SIZE, PARTS
from evalcase.store.folder import Run, why_unsealed
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.value import JSON
from evalcase.util.json import compact_encoder
from evalcase.util.text import make_visible, shorten_text

_to_json = compact_encoder()


def find_project(runs_dir: str | None) -> tuple[Config, str]:
    """The configuration of this project, whatever is wrong with it, and the folder of its runs."""
    config = read_config(os.getcwd(), os.getcwd())
    if config.problems():
        sys.stderr.write("the configuration has errors, which `evalcase check` shows\n")
    return config, config.find_runs(runs_dir)


@contextmanager
def open_run(name: str, runs_dir: str | None) -> Iterator[tuple[StoredRun, Config]]:
    config, folder = find_project(runs_dir)
    with StoredRun(*find_run(name, folder)) as stored:
        yield stored, config


def print_pieces(pieces: Iterable[str | bytes]) -> None:
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


def _read_size(text: str) -> int:
    """A number of bytes, as people write one: `50MB`, `800 kB`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kmg]?)b?", text.strip().lower())
    size = round(float(found[1]) * 1000 ** " kmg".index(found[2] or " ")) if found else 0
    if size <= 0:
        raise click.BadParameter(f"`{text}` is not a size; write 50MB, or 800kB")
    return size


max_size_option = click.option(
    "--max-size", metavar="SIZE", default=f"{MAX_SIZE // 1_000_000}MB", show_default=True,
    callback=checked(_read_size),
    help="Size limit of an HTML page: above it, details of passed cases are left out.",
)  # fmt: skip


_MOST_SHOWN, _LONGEST = 20, 300
_REFUSED = "nothing was done; if you trust the record, add --trust"

trust_option = click.option(
    "--trust", is_flag=True, help="Use what the record names, even if somebody else made it."
)


def refuse_stranger(run: Run, request: RunOptions, state: str | None) -> int:
    """Say what a record names, each thing on its line, and that nothing of it is used."""
    where = "by you on this machine and in this folder, or was changed since"
    write_prose(f"evalcase: {run.path} was not made {where}")
    if why := why_unsealed(run, state):
        write_prose(why)
    default = run.about.default_target
    named = {
        "target": request.targets or ([default] if default else []),
        "env file": [request.env_file] if request.env_file is not None else [],
        "folder": [run.about.cwd],
        "path": request.paths,
    }
    print_lines(["continuing it would use:", *_list_named(named), _REFUSED], sys.stderr)
    return 2


def specs_of(cases: Iterable[Case]) -> Iterator[Mapping[str, JSON]]:
    for case in cases:
        for part in case.graded_parts:
            yield from part._data.get("graders", ())


def refuse_graders(run: Run, graders: Iterable[Mapping[str, JSON]], config: Config) -> int | None:
    """Say which graders of a journal would run code, or ask whom the configuration doesn't name,
    each on its line; None if none would.

    A seal is of what was asked for, and not of what came: anybody can add a case to a journal.
    """
    # Slow to import, and few records are a stranger's.
    from evalcase.config.graders import make_grader, runs_code

    known = {*config.targets, *([config.judge.target] if config.judge is not None else [])}
    found = []
    for text, spec in {_to_json(spec): spec for spec in graders}.items():
        named = make_grader(spec, config)
        if runs_code(named) or not known.issuperset(named.grader.asks()):
            found.append(text)
    if not found:
        return None
    why = "that would run code, or ask targets that the configuration does not name"
    write_prose(f"evalcase: {run.path} names graders {why}:")
    print_lines([*_list_named({"grader": found}), _REFUSED], sys.stderr)
    return 2


def _list_named(named: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each text of a stranger on one line, and of a sane length."""
    for what, values in named.items():
        for value in values[:_MOST_SHOWN]:
            yield f"  {what:<9} {make_visible(shorten_text(value, _LONGEST))}"
        if len(values) > _MOST_SHOWN:
            yield f"  {what:<9} and {len(values) - _MOST_SHOWN:,} more"
