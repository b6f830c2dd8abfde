"""Where stored runs are, and the paths of their suites: as a person writes them here, and as they
are in the project. Records may come from anyone, so no path of theirs is opened."""

from __future__ import annotations

import sys

from evalcase.config.config import Config, read_config


def look_for_runs(folder: str) -> Config:
    """The configuration of the project that a folder belongs to, whatever is wrong with it."""
    config = read_config(folder, folder)
    if config.problems():
        sys.stderr.write("the configuration has errors, which `evalcase check` shows\n")
    return config
