"""A report takes the place of an earlier one, and of nothing else: JSON, JSONL and CSV are also
what cases, answers and traces are kept in, which a slip must not cost."""

from __future__ import annotations

import os
import re

from evalcase.errors import ConfigError
from evalcase.format.source import is_found
from evalcase.util.files import open_file
from evalcase.util.project import leaves_by_link

_SOURCES = (".yaml", ".yml", ".toml", ".py")
"""What suites, configurations and code end in, besides the names of eval files."""
_ENDINGS = (".json", ".jsonl", ".csv")
_LOOKED_AT = 4096
_OWN = re.compile(
    rb'\{"run": "|\{"result": \[|\{"suite": .*?"verdict": "|suite,case,target,repeat,verdict,'
    rb'|\{"resourceSpans": .*?"stringValue": "evalcase"',
    re.DOTALL,
)
"""How reports begin."""


def refuse_to_overwrite(path: str) -> None:
    """Raise ConfigError if a path leads out of the project by a link, has the name of a suite, a
    configuration or code, or is that of a file that is no report of evalcase."""
    name = os.path.basename(path).lower()
    if leaves_by_link(path):
        raise ConfigError(f"{path} can't be written: a link in its path leads outside the project")
    names = (name, os.path.basename(os.path.realpath(path)).lower())  # a link names another file
    if any(each.endswith(_SOURCES) or is_found(each) for each in names):
        what = "a report is never written over a suite, a configuration or code"
        raise ConfigError(f"{path} can't be written: {what}; choose another name")
    if not name.endswith(_ENDINGS) or not os.path.isfile(path):
        return
    try:
        with open_file(path) as file:
            beginning = file.read(_LOOKED_AT)
    except OSError:
        return  # who writes it says what is wrong
    if beginning.strip() and not _OWN.match(beginning):
        hint = "remove it, or choose another name"
        raise ConfigError(f"{path} already exists and is not an evalcase report: {hint}")
