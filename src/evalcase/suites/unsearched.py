"""Files beside eval files that look like suites, and whose names a search passes over: a note for
each, told from no more than its beginning."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from re import MULTILINE

from evalcase.model.problem import Problem
from evalcase.read.discover import is_sidecar
from evalcase.system.files import read_start

_START_BYTES = 8192
_MOST_FILES = 100
"""So many are looked into: a folder may hold other YAML by the thousand."""
_CASES = re.compile(r"^cases:", MULTILINE)
_INPUT = re.compile(r"^[ \t]*(?:- *)?(?:\{.*)?\binput:", MULTILINE)


def note_unsearched(paths: Iterable[str]) -> Iterator[Problem]:
    """A note for each of some files that has cases at its beginning."""
    for path in list(paths)[:_MOST_FILES]:
        if not is_sidecar(path) and _looks_like_suite(path):
            stem, ending = os.path.splitext(path)
            message = f"this has `cases`, but its name doesn't end in .eval{ending}: not looked at"
            hint = f"call it {os.path.basename(stem)}.eval{ending}, or name it outright"
            yield Problem("not-searched", message, path, hint=hint)


def _looks_like_suite(path: str) -> bool:
    if os.path.islink(path):
        return False
    try:
        start = read_start(path, _START_BYTES)[0].decode("utf-8", "replace")
    except OSError:
        return False
    return _CASES.search(start) is not None and _INPUT.search(start) is not None
