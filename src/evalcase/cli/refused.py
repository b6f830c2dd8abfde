"""A run that was asked for in words that nobody understands leaves a note, as any other that was
refused does: `run --taget x || resume` must not go on with an older one as if it was this one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from evalcase.errors import ConfigError
from evalcase.project.config import read_config
from evalcase.project.options import runs_folder
from evalcase.record.begun import note_start
from evalcase.system.world import this_world

_FOLDER = "--runs-dir"


def note_refused_run(arguments: Sequence[str]) -> None:
    """Note that a run was refused, if one was meant."""
    if "--dry-run" in arguments:
        return
    with suppress(ConfigError):
        given = next(_given_folders(arguments), None)
        folder = runs_folder(given, read_config(os.getcwd(), os.getcwd()))
        note_start(folder, this_world().now())


def _given_folders(arguments: Sequence[str]) -> Iterator[str]:
    for at, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == _FOLDER and equals:
            yield value
        elif name == _FOLDER and arguments[at + 1 :]:
            yield arguments[at + 1]
