"""Where kept runs are looked for. Only that is asked of the configuration, so what else is wrong
with it keeps nobody from a report."""

from __future__ import annotations

import sys

from evalcase.config.config import Config, read_config


def look_for_runs(folder: str) -> Config:
    """The configuration of the project that a folder belongs to, whatever is wrong with it."""
    config = read_config(folder, folder)
    if config.problems():
        sys.stderr.write("the configuration has errors, which `evalcase check` shows\n")
    return config
