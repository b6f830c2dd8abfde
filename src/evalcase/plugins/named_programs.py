"""What is wrong with the program that a target or a grader names, as far as can be seen without
starting it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from evalcase.model.finding import KeyPath, Unfit
from evalcase.system.programs import find_program, find_script
from evalcase.system.project_root import leads_inside, say_from_root


def object_to_program(
    name: str, root: str, folder: str = "", env: Mapping[str, object] | None = None
) -> Unfit | None:
    """Why a program can't be run, seen from a folder of the project, with variables of its own.

    What is not the project's need not be here, but where it is run."""
    own = {name: str(value) for name, value in (env or {}).items()}
    place = os.path.join(root, folder)
    if not name or find_program(name, place, {**os.environ, **own}) is not None:
        return None
    if not os.path.dirname(name):
        return _tell_missing(name, place, own.get("PATH"))
    if not os.path.exists(os.path.join(place, name)):
        return _tell_absent(name, root, folder)
    if os.path.isdir(os.path.join(place, name)):
        return Unfit("bad-file", f"`{name}` is a folder, and no program")
    shown = os.path.normpath(os.path.join(folder, name))
    return Unfit("bad-file", f"`{name}` is not executable", f"make it so: chmod +x {shown}")


def object_to_command(
    argv: Sequence[object], root: str, folder: str = "", env: Mapping[str, object] | None = None
) -> tuple[KeyPath, Unfit] | None:
    """What is wrong with a program and its arguments, and with which of them. What has a
    placeholder is filled in later."""
    match argv:
        case [str() as name, *_] if "{" in name:
            return None
        case [str() as name, *_]:
            unfit = object_to_program(name, root, folder, env)
            if unfit is not None:
                return (0,), unfit
    script = find_script(argv)
    unfit = None if script is None else object_to_script(script, root, folder)
    return None if unfit is None else ((1,), unfit)


def _tell_missing(name: str, folder: str, path: str | None) -> Unfit:
    hint = "it is looked for in the folders of PATH"
    if path is not None and "$" in path:
        hint = "`env` is taken as it is written: no variable is filled in for a `$`"
    elif path is not None:
        hint = f"it is looked for in the folders of PATH in `env`, seen from {folder}"
    if os.path.isfile(os.path.join(folder, name)):
        hint = f"write ./{name}: a name without a folder is looked for in the folders of PATH"
    return Unfit("missing-program", f"there is no program `{name}` on this machine", hint)


def _tell_absent(name: str, root: str, folder: str) -> Unfit:
    hint = _seen_from(folder, root)
    if os.path.lexists(os.path.join(root, folder, name)):
        message = f"`{name}` is a link to a program that is not there"
        hint = f"it leads to {os.path.realpath(os.path.join(root, folder, name))}"
    else:
        message = f"there is no program `{name}`"
    if leads_inside(os.path.join(folder, name), root):
        return Unfit("missing-file", message, hint)
    return Unfit(
        "missing-program", f"{message} on this machine", None if os.path.isabs(name) else hint
    )


def object_to_script(name: str, root: str, folder: str = "") -> Unfit | None:
    """Why no interpreter can run a file of the project, seen from a folder of it."""
    path = os.path.join(root, folder, name)
    if os.path.isdir(path) and not os.path.isfile(os.path.join(path, "__main__.py")):
        return Unfit("bad-file", f"`{name}` is a folder, and no file to run")
    if os.path.exists(path) or not leads_inside(os.path.join(folder, name), root):
        return None  # what is elsewhere may come and go
    return Unfit("missing-file", f"there is no file `{name}` to run", _seen_from(folder, root))


def _seen_from(folder: str, root: str) -> str:
    return f"it is looked for from `{folder}`, its `cwd`" if folder else say_from_root(root)
