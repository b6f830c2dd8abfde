"""Imports of user code: `module:attribute` or `./file.py:attribute` to the object it names, or to
an error that says where the cause is. Targets and graders use the same words for the same faults.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module, invalidate_caches
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from traceback import extract_tb, walk_tb
from types import CodeType, ModuleType

from evalcase.errors import ConfigError
from evalcase.types.options import FunctionName
from evalcase.types.problem import did_you_mean, find_nearest
from evalcase.types.read_options import problems_of, type_of
from evalcase.util.definitions import hint_at_folder
from evalcase.util.environment import PACKAGE
from evalcase.util.errors import leaves_of
from evalcase.util.files import open_file
from evalcase.util.text import is_foreign_file

_NEEDED_LATER = frozenset(
    """
    aiohappyeyeballs aiohttp aiosignal argparse array ast asyncio atexit attr base64 binascii
    bisect bz2 calendar click collections concurrent contextlib contextvars copy copyreg csv
    ctypes dataclasses datetime decimal difflib dis email enum errno faulthandler
    fcntl fnmatch fractions frozenlist functools gc genai_prices genericpath gettext gzip
    hashlib heapq hmac html http idna importlib inspect ipaddress itertools json keyword
    linecache locale logging lzma math mimetypes multidict multiprocessing netrc ntpath numbers
    opcode operator os pathlib pickle pkgutil platform posixpath propcache queue quopri random re
    regex reprlib resource rich secrets select selectors shlex shutil signal site socket ssl stat
    string struct subprocess symtable tempfile textwrap threading token tokenize tomllib traceback
    types typing typing_extensions unicodedata urllib uuid warnings weakref webbrowser xml yaml yarl
    zlib
    """.split()
)
"""What evalcase and its dependencies may import after user code, by their first names."""


class InterruptedRunError(KeyboardInterrupt):
    """Ctrl-C while a module was imported; it says which."""


def _has_patched_threads() -> bool:
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


_WERE_PATCHED = _has_patched_threads()
"""A program that patches threads before it imports evalcase works."""


def make_importable(root: str) -> None:
    put_first(os.path.abspath(root), sys.path)


def put_first(root: str, path: list[str]) -> None:
    """Let the modules of a project be imported before installed ones.

    A module of the project may have the name of one that evalcase needs later: that one is imported
    first, so that the project's does not take its place.
    """
    before = sys.path[:]
    sys.path[:] = [each for each in before if os.path.abspath(each) != root]
    try:
        names = {entry.partition(".")[0] for entry in _list_folder(root)}
        for name in sorted(names & _NEEDED_LATER - sys.modules.keys()):
            with suppress(ImportError):  # an extra that is not installed
                import_module(name)
    finally:
        sys.path[:] = before
    if root not in path:
        path.insert(0, root)


def import_object(name: str, what: str, root: str | None = None) -> object:
    """The object of a name; `root` is the folder of the project. Raise ConfigError, which begins
    with `what` it is: "python target"."""
    module_name, _, attributes = name.partition(":")
    # Graders look it up for each call.
    found: object = sys.modules.get(module_name) if attributes else None
    wanted = f"{what} `{name}`"
    if found is None or (root is not None and module_name.startswith("./")):
        for fault in problems_of(type_of(FunctionName), name, ("function",)):
            raise ConfigError(f"{what}: {fault.message}: {fault.hint}")
        found = _import_module(name, wanted, root or os.curdir)
    _refuse_gevent(wanted)
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            raise ConfigError(_describe_missing(found, attribute, wanted)) from None
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
    is_file = module_name.startswith("./")
    invalidate_caches()  # a file may have been written just now
    try:
        return _import_file(module_name, root) if is_file else import_module(module_name)
    except ModuleNotFoundError as error:
        if is_file and (error.name or "").startswith("."):
            why = _describe_relative(module_name, attributes, root)
            raise ConfigError(f"{wanted}: {why}") from None
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(f"{wanted}: {_describe_no_module(error.name)}") from None
        why = f"importing `{module_name}` failed: {describe_error(error)}"
        raise ConfigError(f"{wanted}: {why}") from error
    except KeyboardInterrupt:
        raise InterruptedRunError(f"while {wanted} was imported") from None
    except ConfigError as error:
        raise ConfigError(f"{wanted}: {error}") from None
    except BaseException as error:
        _refuse_gevent(wanted)
        why = f"importing `{module_name}` failed: {describe_error(error)}"
        raise ConfigError(f"{wanted}: {why}") from error


class _FreshLoader(SourceFileLoader):
    """Compiles the text as it is now. Python's cache compares the time in seconds and the size, and
    an edit may change neither."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _import_file(name: str, root: str) -> ModuleType:
    """The module of `./file.py`. It is imported once, under this name."""
    path = os.path.realpath(os.path.join(root, name))
    try:
        open_file(path, root).close()
    except FileNotFoundError:
        folder, file = os.path.split(name)
        entries = _list_folder(os.path.join(root, folder))
        close = find_nearest(file, [entry for entry in entries if entry.endswith(".py")])
        hint = f": did you mean `{folder}/{close}`?" if close else ""
        raise ConfigError(f"there is no file `{name}` in {root}{hint}") from None
    except OSError as error:
        raise ConfigError(f"`{name}` can't be imported: {error.strerror}") from None
    known = sys.modules.get(name)
    if known is not None and known.__file__ == path:
        return known
    loader = _FreshLoader(name, path)
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


def _refuse_gevent(wanted: str) -> None:
    if _has_patched_threads() and not _WERE_PATCHED:
        raise ConfigError(
            f"{wanted}: it patches threads with gevent (`monkey.patch_all()`) while they are in "
            f"use, and nothing would ever end; make it a program, for `command` or `script`"
        )


def _describe_no_module(missing: str) -> str:
    folder = sys.path[0] or os.curdir
    files = [entry for entry in _list_folder(folder) if entry.endswith(".py")]
    hint = hint_at_folder(missing, folder)
    hint = hint or did_you_mean(missing, [each.removesuffix(".py") for each in files])
    hint = hint or f"it is looked for in {folder} first"
    if f"{missing}.py" in files:
        hint = f"{missing}.py is there, and is not a regular file"
    return f"there is no module `{missing}`; {hint}"


def _list_folder(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _describe_relative(file: str, attributes: str, root: str) -> str:
    """How to name a file of a package that has a relative import."""
    folder, module = os.path.split(os.path.normpath(file).removesuffix(".py"))
    folder, package = os.path.split(folder)
    steps = [package, module]
    while folder and os.path.isfile(os.path.join(root, folder, "__init__.py")):
        folder, package = os.path.split(folder)
        steps.insert(0, package)
    why = "it has a relative import, which needs a package, and a file named by its path is in none"
    if not all(step.isidentifier() for step in steps):
        return f"{why}: import what it needs by its full name"
    where = f", with PYTHONPATH={folder} or installed (`pip install -e .`)" if folder else ""
    return f"{why}: name it as a module, python:{'.'.join(steps)}:{attributes}{where}"


def _describe_missing(found: object, attribute: str, wanted: str) -> str:
    """That a module or an object has no such attribute."""
    hint = did_you_mean(attribute, [each for each in dir(found) if not each.startswith("_")])
    file = getattr(found, "__file__", None)
    if isinstance(found, ModuleType):
        folder, own = os.path.abspath(sys.path[0]), f"{found.__name__}.py"
        is_other = file is None or os.path.dirname(file) != folder
        if is_other and os.path.isfile(os.path.join(folder, own)):
            hint = f"it is not {own}, as that has a name of Python's; write `./{own}:{attribute}`"
    where = f" ({file})" if file else ""
    shown = getattr(found, "__name__", type(found).__name__)
    return f"{wanted}: `{shown}`{where} has no `{attribute}`{f': {hint}' if hint else ''}"


_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_OWN = os.path.join(PACKAGE, "util", "imports.py")


def describe_error(error: BaseException) -> str:
    """What an error says, and the line it comes from. If an environment variable is not set, how to
    set it."""
    first, *more = leaves_of(error)
    if first is not error:
        return describe_error(first) + (f" (and {len(more)} more)" if more else "")
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    if isinstance(error, KeyError) and frames and frames[-1].f_locals.get("self") is os.environ:
        hint = "--env-file FILE reads a file of them"
        return f"the environment variable {error.args[0]} is not set{place_of(error)}; {hint}"
    return f"{type(error).__name__}: {error}".rstrip(": ") + place_of(error)


def place_of(error: BaseException) -> str:
    """` (file:line)` of the cause: the last line of user code, else the last that is not part of
    the import system."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    importing = ("<frozen importlib", _OWN, os.path.join(_STANDARD, "importlib"))
    steps = [each for each in extract_tb(error.__traceback__)
             if not each.filename.startswith(importing)]  # fmt: skip
    own = [
        each
        for each in steps
        if not each.filename.startswith(_STANDARD) and not is_foreign_file(each.filename)
    ]
    last = (own or steps)[-1:]
    return f" ({last[0].filename}:{last[0].lineno})" if last else ""
