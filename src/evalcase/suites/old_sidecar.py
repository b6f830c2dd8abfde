"""Suite fields beside a JSONL file under a name that is not read: the one that they had in the
format of January 2026, or one that is misspelt. Whoever has such a file is told, rather than left
without its fields."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache

from evalcase.model.problem import Problem
from evalcase.read.discover import is_sidecar, outside_link
from evalcase.read.document import parse_document
from evalcase.read.source import UnreadableError, read_source
from evalcase.resolve.fields import CASE_CONTAINERS
from evalcase.resolve.names import SUITE

_LARGEST = 100_000
_NAMES = frozenset((*SUITE.fields, *SUITE.aliases)).difference(CASE_CONTAINERS)


def object_to_others(path: str) -> list[Problem]:
    """What to say of suite fields around a JSONL file that has none."""
    old = _object_to_old_sidecar(path)
    return [*_object_to_strays(path)] if old is None else [old]


def _object_to_old_sidecar(path: str) -> Problem | None:
    """What to say of the file `big.yaml` beside `big.jsonl`, if it looks like suite fields."""
    stem = os.path.splitext(path)[0]
    for name in (f"{stem}.yaml", f"{stem}.yml"):
        if os.path.isfile(name) and _holds_suite_fields(name):
            old, new = os.path.basename(name), os.path.basename(f"{stem}.suite.yaml")
            message = f"suite fields of {os.path.basename(path)} are no longer read from {old}"
            return Problem("deprecated-name", message, name, hint=f"name it {new}")
    return None


def _object_to_strays(path: str) -> Iterator[Problem]:
    """What to say of suite fields in the folder of a file that has none, if they are nobody's."""
    folder = os.path.dirname(path)
    stem = os.path.splitext(os.path.basename(path))[0].removesuffix(".eval")
    for name in _list_strays(folder or ".", _time_of_folder(folder or ".")):
        message = f"no JSONL file has these suite fields, and {os.path.basename(path)} has none"
        hint = f"if they are its own, name the file {stem}.suite.yaml"
        yield Problem("stray-suite-fields", message, os.path.join(folder, name), hint=hint)


@lru_cache(maxsize=8)
def _list_strays(folder: str, _: int) -> tuple[str, ...]:
    """Files of suite fields that belong to none; it is asked of each file in a folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    paths = {name: os.path.join(folder, name) for name in names if _is_named_so(name)}
    return tuple(
        name
        for name, path in paths.items()
        if not is_sidecar(path) and os.path.isfile(path) and _holds_suite_fields(path)
    )


def _is_named_so(name: str) -> bool:
    return name.lower().endswith((".suite.yaml", ".suite.yml", ".suite.json"))


def _time_of_folder(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


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
