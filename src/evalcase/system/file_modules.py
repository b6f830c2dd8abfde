"""`./file.py` of a project to its module, which is imported once under that very name; and a module
to its file."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from evalcase.system.sources import find_search_path, trace_sources
from evalcase.types.problem import find_nearest
from evalcase.util.files import digest_file, open_file
from evalcase.util.project import project_root


def names_file(module_name: str) -> bool:
    return module_name.startswith("./")


def find_module_file(module: str, root: str) -> str | None:
    """The file that a module is from, imported or not; None if it is from none, as in a notebook,
    or where it is not imported, if no folder of the project has it."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return getattr(loaded, "__file__", None)
    folders = [root, *find_search_path(os.path.realpath(root))]
    found = (file_of_module(module, folder) for folder in folders)
    return next((path for path in found if path is not None), None)


def sources_of_module(module: str) -> dict[str, str]:
    """The file that an imported module is from, and those of its project that it imports, with the
    hash of each. A notebook and a module written in C are from none, and evalcase counts for
    nothing here."""
    path: str | None = getattr(sys.modules.get(module), "__file__", None)
    if path is None or module.partition(".")[0] == "evalcase":
        return {}
    # What is installed is no part of a project, and stands for itself.
    return trace_sources([path], project_root(os.path.dirname(path))) or {module: digest_file(path)}


def file_of_module(module: str, root: str) -> str | None:
    """The file of a project that a module is, found without importing it; None if it is none."""
    if names_file(module):
        return os.path.join(root, module[2:])
    place = os.path.join(root, *module.split("."))
    candidates = (os.path.join(place, "__init__.py"), f"{place}.py")
    return next((path for path in candidates if os.path.isfile(path)), None)


def object_to_file(name: str, root: str) -> str | None:
    """Why a file can't be imported: it isn't there, isn't regular, or lies outside the project."""
    try:
        open_file(os.path.join(root, name), root).close()
    except FileNotFoundError:
        return f"there is no file `{name}` in {root}{_did_you_mean(name, root)}"
    except OSError as error:
        return f"`{name}` can't be imported: {error.strerror}"
    return None


def import_file(name: str, root: str) -> ModuleType:
    """The module of a file. Another project's of the same name makes way for it."""
    from importlib.util import module_from_spec, spec_from_loader

    from evalcase.system.fresh_loader import FreshLoader

    path = os.path.realpath(os.path.join(root, name))
    known = sys.modules.get(name)
    if known is not None and known.__file__ == path:
        return known
    loader = FreshLoader(name, path)
    spec = spec_from_loader(name, loader, origin=path)
    assert spec is not None
    spec.has_location = True
    module = sys.modules[name] = module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _did_you_mean(name: str, root: str) -> str:
    folder, file = os.path.split(name)
    try:
        entries = os.listdir(os.path.join(root, folder))
    except OSError:
        return ""
    close = find_nearest(file, [entry for entry in entries if entry.endswith(".py")])
    return f": did you mean `{folder}/{close}`?" if close else ""
