"""Whether there is a module of a name, in a project or installed, found out without importing any.

What is installed here may be another's than that of whoever runs it: nobody is sure of it before.
"""

from __future__ import annotations

import os
import sys
from importlib import invalidate_caches
from importlib.util import find_spec

from evalcase.types.problem import did_you_mean
from evalcase.util.project import find_working_folder


def find_missing_module(reference: str, root: str) -> tuple[str, str] | None:
    """A sentence and a hint where neither the project nor what is installed has the module of
    `module:name`; None if one has it, or if nobody can say."""
    module, _, name = reference.partition(":")
    steps = module.split(".")
    if not name or not all(step.isidentifier() for step in steps) or module in sys.modules:
        return None
    names = _modules_in(root)
    if steps[0] not in names:
        if _is_installed(steps[0]):
            return None
        return _tell_missing(steps[0], names, hint_at_folder(steps[0], root, reference))
    folder = root
    for count, step in enumerate(steps[1:], 2):
        folder = os.path.join(folder, steps[count - 2])
        if not os.path.isfile(os.path.join(folder, "__init__.py")):
            return None  # its parts may lie elsewhere, too
        names = _modules_in(folder)
        if step not in names:
            return _tell_missing(
                ".".join(steps[:count]),
                [f"{'.'.join(steps[: count - 1])}.{each}" for each in names],
            )
    return None


def has_module(name: str, root: str) -> bool:
    """Whether the first part of a dotted name is a module of the project itself."""
    first = os.path.join(root, name.partition(".")[0])
    return os.path.isfile(f"{first}.py") or os.path.isfile(os.path.join(first, "__init__.py"))


def hint_at_folder(missing: str, root: str, reference: str = "") -> str | None:
    """What to do where a module lies in a folder of the project, such as `src`, and not in the
    project's own; None if it doesn't. With a `reference`, `module:name`, a file can be named by its
    path in its place."""
    folder = next((each for each in _folders_in(root) if _holds(each, missing, root)), None)
    if folder is None:
        return None
    there, module = f"{folder}/{missing}", reference.partition(":")
    way = f"set PYTHONPATH={os.path.relpath(os.path.join(root, folder))}"
    if os.path.isdir(os.path.join(root, there)):
        return f"{there} is there: install it (`pip install -e .`), or {way}"
    if module[0] == missing:
        way = f"name it by its path, python:./{there}.py:{module[2]}, or {way}"
    return f"{there}.py is there: {way}"


def _holds(folder: str, missing: str, root: str) -> bool:
    return has_module(missing, os.path.join(root, folder))


def _folders_in(root: str) -> list[str]:
    """The folders of a project in which modules may be meant, the working folder first."""
    try:
        folders = sorted(each.name for each in os.scandir(root) if each.is_dir())
    except OSError:
        return []
    if (here := find_working_folder(root)) is not None:
        folders.insert(0, here)
    return [each for each in folders if not each.startswith(".")]


def describe_relative(file: str, attributes: str, root: str) -> str:
    """What to name in place of a file of a package that imports from it by a relative import."""
    folder, module = os.path.split(os.path.normpath(file).removesuffix(".py"))
    folder, package = os.path.split(folder)
    steps = [package, module]
    while folder and os.path.isfile(os.path.join(root, folder, "__init__.py")):
        folder, package = os.path.split(folder)
        steps.insert(0, package)
    why = "it has a relative import, which needs a package, and a file named by its path is in none"
    if not all(step.isidentifier() for step in steps):
        return f"{why}: import what it needs by its full name"
    named = f"{why}: name it as a module, python:{'.'.join(steps)}:{attributes}"
    return (
        f"{named}, with PYTHONPATH={folder} or installed (`pip install -e .`)" if folder else named
    )


def _tell_missing(missing: str, names: list[str], hint: str | None = None) -> tuple[str, str]:
    where = "the project's folder and what is installed are looked at"
    return f"there is no module `{missing}`", hint or did_you_mean(missing, names) or where


def _is_installed(name: str) -> bool:
    # A file that was written after its folder was last looked at is found, too.
    invalidate_caches()
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return True  # it was made in a way of its own


def _modules_in(folder: str) -> list[str]:
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    names = {entry.partition(".")[0] for entry in entries}
    return sorted(name for name in names if name.isidentifier())
