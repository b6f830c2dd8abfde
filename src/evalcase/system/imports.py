"""`module:attribute` to the object it names, or to an error that says where the cause is.

It serves targets and graders alike: the same words for the same faults, with what it is that is
being imported before them.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module, invalidate_caches
from types import ModuleType

from evalcase.errors import ConfigError
from evalcase.system.error_place import describe_error
from evalcase.system.file_modules import import_file, names_file, object_to_file
from evalcase.system.missing_modules import describe_relative, hint_at_folder
from evalcase.system.own_modules import put_first
from evalcase.types.options import FunctionName
from evalcase.types.problem import did_you_mean
from evalcase.types.read_options import problems_of, type_of


class InterruptedRunError(KeyboardInterrupt):
    """Ctrl-C while a module was imported; it says which."""


def _has_patched_threads() -> bool:
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


_WERE_PATCHED = _has_patched_threads()
"""A program that does so before it imports evalcase runs as any other."""


def make_importable(root: str) -> None:
    """Let the modules of a project be imported, before anything that is installed."""
    put_first(os.path.abspath(root), sys.path)


def import_object(name: str, what: str, root: str | None = None) -> object:
    """The object of `module:attribute`, or of `./file.py:attribute` below `root`, which has to be
    given the first time. Raise ConfigError; `what` it is: "python target"."""
    module_name, _, attributes = name.partition(":")
    # Graders ask for it each time they are called, and then it is there already.
    found: object = sys.modules.get(module_name) if attributes else None
    if found is None or (root is not None and names_file(module_name)):
        for fault in problems_of(type_of(FunctionName), name, ("function",)):
            raise ConfigError(f"{what}: {fault.message}: {fault.hint}")
        found = _import_module(name, f"{what} `{name}`", root or os.curdir)
    _refuse_gevent(f"{what} `{name}`")
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            raise ConfigError(_explain_missing(found, attribute, f"{what} `{name}`")) from None
    return found


def is_at(wanted: object, name: str) -> bool:
    """Whether a name leads to this very object, as far as it is imported."""
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is wanted


def _import_module(name: str, wanted: str, root: str) -> ModuleType:
    module_name, _, attributes = name.partition(":")
    is_file = names_file(module_name)
    if is_file and (why := object_to_file(module_name, root)) is not None:
        raise ConfigError(f"{wanted}: {why}")
    # A file that was written after the folder was last looked at is found, too.
    invalidate_caches()
    try:
        return import_file(module_name, root) if is_file else import_module(module_name)
    except ModuleNotFoundError as error:
        if is_file and (error.name or "").startswith("."):
            # What a file stands for is no package, and only a relative import begins with it.
            why = describe_relative(module_name, attributes, root)
            raise ConfigError(f"{wanted}: {why}") from None
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(f"{wanted}: {_no_module(error.name)}") from None
        raise ConfigError(f"{wanted}: {_explain_broken(module_name, error)}") from error
    except KeyboardInterrupt:
        raise InterruptedRunError(f"while {wanted} was imported") from None
    except BaseException as error:
        _refuse_gevent(wanted)
        # Whatever a module does when it is imported, it is the user's to mend.
        raise ConfigError(f"{wanted}: {_explain_broken(module_name, error)}") from error


def _refuse_gevent(wanted: str) -> None:
    if _has_patched_threads() and not _WERE_PATCHED:
        raise ConfigError(
            f"{wanted}: it patches threads with gevent (`monkey.patch_all()`) while they are in "
            f"use, and nothing would ever end; make it a program, for `command` or `script`"
        )


def _no_module(missing: str) -> str:
    folder = sys.path[0] or os.curdir
    hint = hint_at_folder(missing, folder) or did_you_mean(missing, _modules_in(folder))
    hint = hint or f"it is looked for in {folder} first"
    if os.path.lexists(os.path.join(folder, f"{missing}.py")):
        hint = f"{missing}.py is there, and is not a regular file"
    return f"there is no module `{missing}`; {hint}"


def _modules_in(folder: str) -> list[str]:
    try:
        entries = os.listdir(folder)
    except OSError:  # an archive, or a folder that is gone
        return []
    return [entry.removesuffix(".py") for entry in entries if entry.endswith(".py")]


def _explain_broken(module_name: str, error: BaseException) -> str:
    return f"importing `{module_name}` failed: {describe_error(error)}"


def _own_file(module: str, file: str | None) -> str | None:
    """The file of the project whose name another module has, that was imported before."""
    folder = sys.path[0] or os.curdir
    path = os.path.join(folder, f"{module}.py")
    is_other = file is None or os.path.dirname(file) != os.path.abspath(folder)
    return f"{module}.py" if is_other and os.path.isfile(path) else None


def _explain_missing(found: object, attribute: str, wanted: str) -> str:
    hint = did_you_mean(attribute, [each for each in dir(found) if not each.startswith("_")])
    file = getattr(found, "__file__", None)
    if isinstance(found, ModuleType) and (own := _own_file(found.__name__, file)) is not None:
        hint = f"it is not {own}, as that has a name of Python's; write `./{own}:{attribute}`"
    where = f" ({file})" if file else ""
    shown = getattr(found, "__name__", type(found).__name__)
    return f"{wanted}: `{shown}`{where} has no `{attribute}`{f': {hint}' if hint else ''}"
