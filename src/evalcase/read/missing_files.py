"""What to do where a path leads to no eval file: by the names of what lies near it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from evalcase.model.nearest import did_you_mean
from evalcase.model.problem import Problem
from evalcase.read.folders import FOUND_ENDINGS, enters_folder, is_found
from evalcase.system.project_root import find_project

_READ = (".yaml", ".yml", ".jsonl")
_OF_OTHERS = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json", "evals.json")
"""What other tools call the files that `evalcase import` reads."""
_MOST_LOOKED_AT = 1000
"""Folders of a project that are looked at for a hint: it is worth no more."""


def missing_path(path: str) -> Problem:
    """The problem with a path that leads nowhere, with the nearest name in its folder."""
    folder, name = os.path.split(path)
    near = did_you_mean(name, _list_names(folder or "."), 0.75) if name else None
    hint = near.replace("`", f"`{os.path.join(folder, '')}", 1) if near and folder else near
    return Problem("unreadable-file", "there is no such file or folder", path, hint=hint)


def no_suites(folder: str) -> Problem:
    """The problem with a folder that has no eval files, in it or below."""
    other = next(_walk_files(folder, lambda name: name in _OF_OTHERS), None)
    hint = f"eval files end in {', '.join(FOUND_ENDINGS)}; {_hint_at_files(folder)}"
    if other is not None:
        hint = f"this converts {other}: {_import_command(other)}"
    return Problem("no-suites", "there are no eval files in this folder", folder, hint=hint)


def _hint_at_files(folder: str) -> str:
    named = [name for name in _list_names(folder) if name.endswith(_READ)]
    if named:
        path = os.path.join(folder, named[0]).removeprefix("./")
        return f"name any other file outright, such as {path}"
    project = find_project(os.path.abspath(folder))
    if project is not None and not os.path.samefile(project, folder):
        for path in _walk_files(project, is_found):
            return f"there is {os.path.relpath(path)} in this project"
    return "name any other file outright, or write a first one with `evalcase init`"


def _walk_files(folder: str, is_wanted: Callable[[str], bool]) -> Iterator[str]:
    for count, (parent, folders, files) in enumerate(os.walk(folder)):
        if count >= _MOST_LOOKED_AT:
            return
        folders[:] = sorted(name for name in folders if enters_folder(parent, name))
        for name in sorted(files):
            if is_wanted(name):
                yield os.path.join(parent, name).removeprefix("./")


def _list_names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []


def _import_command(path: str) -> str:
    from shlex import quote

    stem = os.path.splitext(path)[0]
    return f"evalcase import {quote(path)} -o {quote(stem + '.eval.yaml')}"
