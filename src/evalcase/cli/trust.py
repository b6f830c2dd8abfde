"""A record of somebody else's: what it would have executed, opened and connected to, in words, and
the option by which a person says that it may.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click

from evalcase.cli.terminal import write_prose
from evalcase.config.config import Config
from evalcase.config.options import RunOptions
from evalcase.store.folder import Run
from evalcase.types.case import Case
from evalcase.types.value import JSON
from evalcase.util.environment import read_key
from evalcase.util.json import compact_encoder
from evalcase.util.text import make_visible

_to_json = compact_encoder()
_MOST_SHOWN, _LONGEST = 20, 300

trust_option = click.option(
    "--trust", is_flag=True, help="Use what the record names, even if somebody else made it."
)


def refuse_stranger(run: Run, request: RunOptions, state: str | None) -> int:
    """Say what a record names, each thing on its line, and that nothing of it is used."""
    where = "by you on this machine and in this folder, or was changed since"
    write_prose(f"evalcase: {run.path} was not made {where}")
    why = why_unsealed(run, state)
    if why:
        write_prose(why)
    sys.stderr.write("continuing it would use:\n")
    for what, values in _find_named(run, request):
        _list_named(what, values)
    sys.stderr.write("nothing was done; if you trust it, add --trust\n")
    return 2


def specs_of(cases: Iterable[Case]) -> Iterator[Mapping[str, JSON]]:
    """The graders of cases."""
    for case in cases:
        for part in case.graded_parts:
            yield from part._data.get("graders", ())


def refuse_graders(run: Run, graders: Iterable[Mapping[str, JSON]], config: Config) -> int | None:
    """Say which graders of a journal would run code, or ask whom the configuration doesn't name,
    each on its line; None if none would.

    A seal is of what was asked for, and not of what came: anybody can add a case to a journal.
    """
    specs = {_to_json(spec): spec for spec in graders}
    found = [text for text, spec in specs.items() if _goes_beyond(spec, config)]
    if not found:
        return None
    sys.stderr.write(
        f"evalcase: {make_visible(run.path)} names graders that would run code, or ask targets "
        "that the configuration does not name:\n"
    )
    _list_named("grader", found)
    sys.stderr.write("nothing was done; if you trust the record, add --trust\n")
    return 2


def _goes_beyond(spec: Mapping[str, JSON], config: Config) -> bool:
    # Slow to import, and few records are a stranger's.
    from evalcase.config.graders import make_grader, runs_code

    named = make_grader(spec, config)
    known = {*config.targets, *([config.judge.target] if config.judge is not None else [])}
    return runs_code(named) or not known.issuperset(named.grader.asks())


def why_unsealed(run: Run, state: str | None) -> str:
    """Why a run of one's own may not be known again; nothing if there is no such reason."""
    if run.seal is not None:
        return ""
    if state is None:
        return "evalcase can't recognise your runs: HOME doesn't say where your home is"
    try:
        read_key(state)
    except OSError as error:
        path, why = make_visible(os.path.join(state, "key")), error.strerror or error
        return f"evalcase can't recognise your runs: {path} can't be used: {why}"
    return ""


def _list_named(what: str, values: Sequence[str]) -> None:
    for value in values[:_MOST_SHOWN]:
        sys.stderr.write(f"  {what:<9} {_show_text(value)}\n")
    if len(values) > _MOST_SHOWN:
        sys.stderr.write(f"  {what:<9} and {len(values) - _MOST_SHOWN:,} more\n")


def _find_named(run: Run, request: RunOptions) -> Iterator[tuple[str, Sequence[str]]]:
    """What a record names, by what it is."""
    default = run.about.default_target
    yield "target", request.targets or ([default] if default else [])
    yield "env file", [request.env_file] if request.env_file is not None else []
    yield "folder", [run.about.cwd]
    yield "path", request.paths


def _show_text(text: str) -> str:
    """A text of a stranger on one line, and of a sane length."""
    return make_visible(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
