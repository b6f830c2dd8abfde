"""What a file is checked with: the configuration of its project, also where that is open in the
editor and not saved yet, and what is known of graders and targets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import TABLES, Config, config_of_text, read_config
from evalcase.format.source import UnreadableError, encode_text
from evalcase.types.grader import DeclaredGrader, What
from evalcase.types.problem import Unfit
from evalcase.util.files import read_file
from evalcase.util.project import project_root


class StaleError(Exception):
    """Nobody waits any more for what is being found out."""


class KnownWhileWanted(Catalogue):
    """The same as for `check`, given up in the midst of it once nobody waits for the result."""

    def __init__(self, config: Config, is_stale: Callable[[], bool] = lambda: False) -> None:
        super().__init__(config)
        self._is_stale = is_stale

    def grader(self, name: str) -> DeclaredGrader | None:
        if self._is_stale():
            raise StaleError
        return super().grader(name)

    def object_to(self, what: What, name: str) -> Unfit | None:
        if self._is_stale():
            raise StaleError
        return super().object_to(what, name)


def config_around(folder: str, unsaved: Mapping[str, str]) -> Config:
    """The configuration of the project that a folder belongs to. `unsaved` has the texts that are
    open in the editor, by their paths."""
    root = project_root(os.path.realpath(folder))
    paths = [os.path.join(root, name) for name in TABLES]
    if not any(path in unsaved for path in paths):
        return read_config(folder)
    for path in paths:
        config = _config_at(path, root, unsaved.get(path))
        if config is not None:
            return config
    return Config(root)


def _config_at(path: str, root: str, text: str | None) -> Config | None:
    if text is None and not os.path.lexists(path):
        return None
    try:
        data = encode_text(text, path) if text is not None else read_file(path, 10_000_000, root)
        data.decode()
    except (OSError, UnreadableError, UnicodeDecodeError):
        return None
    return config_of_text(data, path, root, path)
