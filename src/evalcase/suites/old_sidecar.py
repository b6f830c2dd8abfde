"""Suite fields beside a JSONL file under the name that they had in the format of January 2026,
which is no longer read: whoever has such a file is told, rather than left without its fields."""

from __future__ import annotations

import os

from evalcase.model.problem import Problem
from evalcase.read.discover import outside_link
from evalcase.read.document import parse_document
from evalcase.read.source import UnreadableError, read_source
from evalcase.resolve.fields import CASE_CONTAINERS
from evalcase.resolve.names import SUITE

_LARGEST = 100_000
_NAMES = frozenset((*SUITE.fields, *SUITE.aliases)).difference(CASE_CONTAINERS)


def object_to_old_sidecar(path: str) -> Problem | None:
    """What to say of the file `big.yaml` beside `big.jsonl`, if it looks like suite fields."""
    stem = os.path.splitext(path)[0]
    for name in (f"{stem}.yaml", f"{stem}.yml"):
        if os.path.isfile(name) and _holds_suite_fields(name):
            old, new = os.path.basename(name), os.path.basename(f"{stem}.suite.yaml")
            message = f"suite fields of {os.path.basename(path)} are no longer read from {old}"
            return Problem("deprecated-name", message, name, hint=f"name it {new}")
    return None


def _holds_suite_fields(path: str) -> bool:
    if outside_link(path) is not None or os.path.getsize(path) > _LARGEST:
        return False
    try:
        value = parse_document(read_source(path), "yaml", path).value
    except UnreadableError:
        return False
    return (
        type(value) is dict
        and not _NAMES.isdisjoint(value)
        and value.keys().isdisjoint((*CASE_CONTAINERS, "input"))
    )
