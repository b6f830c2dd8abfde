"""Imports user code of a project, `module:name` or `./file.py:name`, and says in the same words for
targets and graders where the cause of a failure is."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module, invalidate_caches
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from traceback import extract_tb, walk_tb
from types import ModuleType

from evalcase.errors import ConfigError
from evalcase.types.options import FunctionName
from evalcase.types.problem import did_you_mean
from evalcase.types.read_options import problems_of, type_of
from evalcase.util.errors import leaves_of
from evalcase.util.files import open_file
from evalcase.util.sources import hint_at_module, list_modules
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


def make_importable(root: str) -> None:
    """Let the modules of a project be imported before installed ones.

    A module of the project may have the name of one that evalcase needs later: that one is imported
    first, so that the project's does not take its place.
    """
    root, before = os.path.abspath(root), sys.path[:]
    sys.path[:] = [each for each in before if os.path.abspath(each) != root]
    try:
        for name in sorted({*list_modules(root)} & _NEEDED_LATER - sys.modules.keys()):
            with suppress(ImportError):  # an extra that is not installed
                import_module(name)
    finally:
        sys.path[:] = before
    if root not in sys.path:
        sys.path.insert(0, root)


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
        found = _import_module(module_name, wanted, root or os.curdir)
    _refuse_gevent(wanted)
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            raise ConfigError(_describe_no_attribute(found, attribute, wanted)) from None
    return found


def is_at(wanted: object, name: str) -> bool:
    """Whether a name leads to this very object, as far as it is imported."""
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is wanted


def _import_module(name: str, wanted: str, root: str) -> ModuleType:
    is_file = name.startswith("./")
    invalidate_caches()  # a file may have been written just now
    try:
        return _import_file(name, root) if is_file else import_module(name)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"while {wanted} was imported") from None
    except ConfigError as error:
        raise ConfigError(f"{wanted}: {error}") from None
    except BaseException as error:
        _refuse_gevent(wanted)
        missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        if is_file and missing.startswith("."):
            why = "it has a relative import, which needs a package: name it as a module"
            raise ConfigError(f"{wanted}: {why}") from None
        if missing and f"{name}.".startswith(f"{missing}."):
            hint = hint_at_module(missing, sys.path[0] or os.curdir)
            raise ConfigError(f"{wanted}: there is no module `{missing}`; {hint}") from None
        why = f"importing `{name}` failed: {describe_error(error)}"
        raise ConfigError(f"{wanted}: {why}") from error


def _import_file(name: str, root: str) -> ModuleType:
    """The module of `./file.py`. It is imported once, under this name."""
    path = os.path.realpath(os.path.join(root, name))
    try:
        open_file(path, root).close()
    except FileNotFoundError:
        raise ConfigError(f"there is no file `{name}` in {root}") from None
    except OSError as error:
        raise ConfigError(f"`{name}` can't be imported: {error.strerror}") from None
    known = sys.modules.get(name)
    if known is not None and known.__file__ == path:
        return known
    loader = SourceFileLoader(name, path)
    spec = spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        # Cached bytecode may be that of a moment ago: it is compared by whole seconds and sizes.
        exec(loader.source_to_code(loader.get_data(path), path), vars(module))  # noqa: S102
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _has_patched_threads() -> bool:
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


_WERE_PATCHED = _has_patched_threads()
"""A program that patches threads before it imports evalcase works."""


def _refuse_gevent(wanted: str) -> None:
    if _has_patched_threads() and not _WERE_PATCHED:
        raise ConfigError(
            f"{wanted}: it patches threads with gevent (`monkey.patch_all()`) while they are in "
            f"use, and nothing would ever end; make it a program, for `command` or `script`"
        )


def _describe_no_attribute(found: object, attribute: str, wanted: str) -> str:
    hint = did_you_mean(attribute, [each for each in dir(found) if not each.startswith("_")])
    file = getattr(found, "__file__", None)
    where = f" ({file})" if file else ""
    shown = getattr(found, "__name__", type(found).__name__)
    return f"{wanted}: `{shown}`{where} has no `{attribute}`{f': {hint}' if hint else ''}"


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


_STANDARD = os.path.join(os.path.dirname(os.__file__), "")


def place_of(error: BaseException) -> str:
    """` (file:line)` of the cause: the last line of user code, else the last of all."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    steps = [(step.filename, step.lineno) for step in extract_tb(error.__traceback__)]
    foreign = (_STANDARD, __file__)
    own = [each for each in steps if not (each[0].startswith(foreign) or is_foreign_file(each[0]))]
    return " ({}:{})".format(*(own or steps)[-1]) if steps else ""
