"""What is wrong with the code, the file or the program that a target or a grader names, as far as
can be seen without importing or starting it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from evalcase.model.finding import KeyPath, Unfit
from evalcase.model.target import TargetKind
from evalcase.system.project_root import leads_inside

_FROM_ROOT = "it is looked for from the project's folder"


def object_to_named(
    kind: TargetKind, options: Mapping[str, object], root: str, is_project: bool
) -> tuple[KeyPath, Unfit] | None:
    """What is wrong with what a target names, and by which option. Only where there is a
    configuration it is known which folder is the project's, and so where its modules are."""
    path: KeyPath = (kind.value or "",)
    value = options.get(kind.value or "")
    unfit: Unfit | None = None
    if kind.name == "command":
        return _object_to_command(options, root)
    if kind.name == "python" and isinstance(value, str):
        unfit = _object_to_code(value, root, is_project)
    elif kind.value_is_path and isinstance(value, str):
        unfit = _object_to_file(value, root)
    return None if unfit is None else (path, unfit)


def object_to_program(name: str, root: str, folder: str = "") -> Unfit | None:
    """Why a program can't be run, seen from a folder of the project. A name without a folder is
    looked up where it is run, which need not be here; what is elsewhere may come and go."""
    if not os.path.dirname(name):
        return _object_to_installed(name, os.path.join(root, folder))
    if not leads_inside(os.path.join(folder, name), root):
        return None
    from shutil import which

    path = os.path.join(root, folder, name)
    if which(path) is not None:
        return None
    if not os.path.exists(path):
        hint = f"it is looked for from `{folder}`, its `cwd`" if folder else _FROM_ROOT
        return Unfit("missing-file", f"there is no program `{name}`", hint)
    if os.path.isdir(path):
        return Unfit("bad-file", f"`{name}` is a folder, and no program")
    shown = os.path.normpath(os.path.join(folder, name))
    return Unfit("bad-file", f"`{name}` is not executable", f"make it so: chmod +x {shown}")


def _object_to_installed(name: str, folder: str) -> Unfit | None:
    from shutil import which

    if not name or which(name) is not None:
        return None
    hint = "it is looked for in the folders of PATH"
    if os.path.isfile(os.path.join(folder, name)):
        hint = f"write ./{name}: a name without a folder is looked for in the folders of PATH"
    return Unfit("missing-program", f"there is no program `{name}` on this machine", hint)


def _object_to_command(options: Mapping[str, object], root: str) -> tuple[KeyPath, Unfit] | None:
    command, cwd = options.get("command"), options.get("cwd") or ""
    if not isinstance(cwd, str):
        return None
    if leads_inside(cwd, root) and not os.path.isdir(os.path.join(root, cwd)):
        return ("cwd",), Unfit("missing-file", f"there is no folder `{cwd}`", _FROM_ROOT)
    match command:
        case [str() as name, *_] if "{" not in name and not _has_path_of_its_own(name, options):
            unfit = object_to_program(name, root, cwd)
            return None if unfit is None else (("command", 0), unfit)
    return None  # a line for the shell; or what it is run by is filled in later


def _has_path_of_its_own(name: str, options: Mapping[str, object]) -> bool:
    env = options.get("env")
    return not os.path.dirname(name) and isinstance(env, Mapping) and "PATH" in env


def _object_to_file(name: str, root: str) -> Unfit | None:
    if os.path.exists(os.path.join(root, name)):
        return None
    if "\0" not in name and not leads_inside(name, root):
        return None  # what is elsewhere may come and go
    return Unfit("missing-file", f"there is no file `{name}`", _FROM_ROOT)


def _object_to_code(function: str, root: str, is_project: bool) -> Unfit | None:
    from evalcase.system.definitions import find_broken, find_undefined
    from evalcase.system.missing_modules import find_missing_module

    broken = find_broken(function, root)
    if broken is not None:
        return Unfit("bad-target", *broken)
    found = find_undefined(function, root)
    if found is not None:
        return Unfit("unknown-target", *found)
    file = function.rpartition(":")[0]
    if file.startswith("./"):
        return _object_to_file(file, root)
    missing = find_missing_module(function, root) if is_project else None
    return None if missing is None else Unfit("missing-module", *missing)
