"""`module:attribute` to the object it names, or to an error that says where the cause is."""

from __future__ import annotations

import os
import sys
from importlib import import_module, invalidate_caches
from traceback import extract_tb
from types import ModuleType

from evalcase.errors import ConfigError


def import_object(name: str, root: str) -> object:
    """The object. The project's root is importable from here on, before anything installed."""
    module_name, attributes = _split(name)
    root = os.path.abspath(root)
    if root not in sys.path:
        sys.path.insert(0, root)
    found: object = _import(name, module_name, root)
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            raise ConfigError(_missing(name, found, attribute)) from None
    return found


def _split(name: str) -> tuple[str, str]:
    module_name, _, attributes = name.partition(":")
    if os.sep in module_name or module_name.endswith(".py"):
        stem = os.path.normpath(module_name).removesuffix(".py").replace(os.sep, ".")
        hint = f"did you mean `{stem}:{attributes or 'answer'}`?"
        raise ConfigError(f"python target: `{name}` names a file, not a module: {hint}")
    words = [*module_name.split("."), *attributes.split(".")]
    if not all(word.isidentifier() for word in words):
        hint = "write module:function, for example python:my_agent:answer"
        raise ConfigError(f"python target: `{name}` does not name a function: {hint}")
    return module_name, attributes


def _import(name: str, module_name: str, root: str) -> ModuleType:
    # A file that was written after the folder was last looked at is found, too.
    invalidate_caches()
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(_no_module(name, error.name, root)) from None
        raise ConfigError(_broken(name, module_name, error)) from error
    except (Exception, SystemExit) as error:
        # Whatever a module does when it is imported, it is the user's to mend.
        raise ConfigError(_broken(name, module_name, error)) from error


def _no_module(name: str, missing: str, root: str) -> str:
    from difflib import get_close_matches

    modules = [entry.removesuffix(".py") for entry in os.listdir(root) if entry.endswith(".py")]
    close = get_close_matches(missing, modules, 1, 0.6)
    hint = f"did you mean `{close[0]}`?" if close else f"it is looked for in {root} first"
    return f"python target `{name}`: there is no module `{missing}`; {hint}"


def _broken(name: str, module_name: str, error: BaseException) -> str:
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"python target `{name}`: importing `{module_name}` failed: {what}{place_of(error)}"


def place_of(error: BaseException) -> str:
    """` (file:line)` of the cause: the last step that is not the import machinery's own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    steps = [step for step in extract_tb(error.__traceback__) if not _is_machinery(step.filename)]
    return f" ({steps[-1].filename}:{steps[-1].lineno})" if steps else ""


def _is_machinery(filename: str) -> bool:
    return (
        filename.startswith("<frozen importlib")
        or filename == __file__
        or filename.endswith(os.path.join("importlib", "__init__.py"))
    )


def _missing(name: str, found: object, attribute: str) -> str:
    from difflib import get_close_matches

    names = [each for each in dir(found) if not each.startswith("_")]
    close = get_close_matches(attribute, names, 1, 0.6)
    hint = f": did you mean `{close[0]}`?" if close else ""
    file = getattr(found, "__file__", None)
    where = f" ({file})" if file else ""
    what = getattr(found, "__name__", type(found).__name__)
    return f"python target `{name}`: `{what}`{where} has no `{attribute}`{hint}"
