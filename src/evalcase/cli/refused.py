"""A run that was asked for in words that nobody understands leaves a note, as any other that was
refused does: `run --taget x || resume` must not go on with an older one as if it was this one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from evalcase.config.config import read_config
from evalcase.errors import ConfigError
from evalcase.store.folder import note_start
from evalcase.util.environment import this_environment

_FOLDER = "--runs-dir"


def note_refused_run(arguments: Sequence[str]) -> None:
    """Note that a run was refused, if one was meant."""
    if "--dry-run" in arguments:
        return
    with suppress(ConfigError):
        given = next(_given_folders(arguments), None)
        folder = read_config(os.getcwd(), os.getcwd()).find_runs(given)
        note_start(folder, this_environment().now())


def _given_folders(arguments: Sequence[str]) -> Iterator[str]:
    for at, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == _FOLDER and equals:
            yield value
        elif name == _FOLDER and arguments[at + 1 :]:
            yield arguments[at + 1]
