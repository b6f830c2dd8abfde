"""What is wrong with the code, the file or the program that a target names, as far as can be seen
without importing or starting it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from evalcase.errors import ConfigError
from evalcase.model.finding import KeyPath, Unfit
from evalcase.model.target import TargetKind
from evalcase.system.project_root import leads_inside, say_from_root


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
        if unfit is None and options.get("arguments") is None:
            unfit = _object_to_parameters(value, root)
    elif kind.value_is_path and isinstance(value, str):
        unfit = _object_to_file(value, root, kind.folder_holds)
    return None if unfit is None else (path, unfit)


def _object_to_command(options: Mapping[str, object], root: str) -> tuple[KeyPath, Unfit] | None:
    from evalcase.plugins.named_programs import object_to_command

    command, cwd = options.get("command"), options.get("cwd") or ""
    env = options.get("env")
    if not isinstance(cwd, str) or not isinstance(command, list):
        return None  # a line for the shell, or a mistake that is told elsewhere
    if leads_inside(cwd, root) and not os.path.isdir(os.path.join(root, cwd)):
        return ("cwd",), Unfit("missing-file", f"there is no folder `{cwd}`", say_from_root(root))
    found = object_to_command(command, root, cwd, env if isinstance(env, Mapping) else None)
    return None if found is None else (("command", *found[0]), found[1])


def _object_to_file(name: str, root: str, folder_holds: tuple[str, ...] | None) -> Unfit | None:
    path = os.path.join(root, name)
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # a NUL, or half of a character: no file has such a name
        if "\0" not in name and not leads_inside(name, root):
            return None  # what is elsewhere may come and go
        return Unfit("missing-file", f"there is no file `{name}`", say_from_root(root))
    if stat.S_ISREG(found.st_mode) or folder_holds is None:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return Unfit("bad-file", f"`{name}` is not a regular file")
    if any(os.path.lexists(os.path.join(path, each)) for each in folder_holds):
        return None
    if not folder_holds:
        return Unfit("bad-file", f"`{name}` is a folder", "name a file in it")
    message = f"`{name}` is a folder without {folder_holds[0]}"
    return Unfit("bad-file", message, "name the folder of a run, or a file")


def _object_to_code(function: str, root: str, is_project: bool) -> Unfit | None:
    from evalcase.system.attachments import attachments_in
    from evalcase.system.definitions import find_broken, find_undefined
    from evalcase.system.missing_modules import find_missing_module

    file = function.rpartition(":")[0]
    if file.startswith("./") and file.endswith(".py"):
        path = attachments_in(root, root).find_from_root(file)
        if isinstance(path, Unfit):
            return path
    broken = find_broken(function, root)
    if broken is not None:
        return Unfit("bad-target", *broken)
    found = find_undefined(function, root)
    if found is not None:
        return Unfit("unknown-target", *found)
    missing = find_missing_module(function, root) if is_project else None
    return None if missing is None else Unfit("missing-module", *missing)


def _object_to_parameters(function: str, root: str) -> Unfit | None:
    """Whether a function can't be asked. One without parameters may make what is, and what an
    annotation stands for is only known once it is imported."""
    from inspect import signature

    from evalcase.system.stand_ins import find_stand_in

    stand_in = find_stand_in(function, root)
    parameters = {} if stand_in is None else signature(stand_in).parameters
    is_plain = all(each.annotation is each.empty for each in parameters.values())
    if stand_in is None or not parameters or not is_plain:
        return None
    from evalcase.targets.code.parameters import bind_function

    try:
        bind_function(stand_in, function)
    except ConfigError as error:
        return Unfit("bad-target", str(error))
    return None
